"""Batches that fit into memory: halved, and tried again, where one does not."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from rpx_core.errors import ModelError, count_of

T = TypeVar("T")
R = TypeVar("R")

LARGEST_BATCH = "largest_batch"
"""What `describe` calls the size of the batches that fit; a report warns of it."""

_log = logging.getLogger("rpx.inference")
_SAYS = ("out of memory", "can't allocate memory", "cannot allocate memory")


class Batches:
    """Calls a function on as many items at once as memory allows, and keeps their order.

    What did not fit once is not tried again: the size that did fit stays. It is said in a warning
    as soon as it is known, and again by `describe`.
    """

    def __init__(self, free: Callable[[], None]) -> None:
        """`free` gives back what a failed batch has left in the device's cache."""
        self._free = free
        self._most: int | None = None
        self._too_many: int | None = None

    def run(self, items: Sequence[T], call: Callable[[Sequence[T]], Sequence[R]]) -> list[R]:
        """One result per item, in order; raises ModelError when a single item does not fit."""
        results: list[R] = []
        while len(results) < len(items):
            start = len(results)
            batch = items[start : start + (self._most or len(items))]
            try:
                found = list(call(batch))
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                self._shrink(len(batch), error)
                # Outside the handler the traceback, and with it the batch's tensors, is gone.
                found = []
            else:
                _check_count(found, batch)
                self._tell()
            if not found:
                self._free()
            results += found
        return results

    def describe(self) -> dict[str, str]:
        """The size that fits, where a larger one did not."""
        return {} if self._most is None else {LARGEST_BATCH: str(self._most)}

    def _shrink(self, size: int, error: BaseException) -> None:
        if size == 1:
            raise ModelError(
                "one sample alone does not fit into memory",
                hint="use a smaller checkpoint or image, model.options.dtype='float16', or "
                "another --device",
            ) from error
        self._most = size // 2
        self._too_many = self._too_many or size

    def _tell(self) -> None:
        """Say what fits, once a batch has fitted: halves of halves are no news."""
        if self._too_many is not None:
            _log.warning(
                "a batch of %d does not fit into memory; going on with %d at a time",
                self._too_many,
                self._most,
            )
            self._too_many = None


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out, on whatever device."""
    torch: Any = sys.modules.get("torch")
    kinds = (MemoryError, torch.cuda.OutOfMemoryError) if torch is not None else (MemoryError,)
    return isinstance(error, kinds) or any(text in str(error).lower() for text in _SAYS)


def _check_count(found: Sequence[Any], batch: Sequence[Any]) -> None:
    if len(found) != len(batch):
        raise ModelError(
            f"the network gave {count_of(len(found), 'answer')} for "
            f"{count_of(len(batch), 'sample')}",
            hint="answer() must return one prediction per sample, in order",
        )
