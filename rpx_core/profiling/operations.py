"""Counting the operations of one call of a model, and the memory of its activations.

Both are read off the operations that torch dispatches, so they are the same on every device. The
call is slowed down by it and must never be timed.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rpx_core.profiling.modules import NO_TORCH, loaded_torch

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN = frozenset({"aten", "prim", "prims", "profiler"})
_WEIGHTY = ("_rnn", "fft", "_native_multi_head", "_transformer_encoder")
"""Parts of the names of operations that compute much and have no formula in torch."""

Shape = Sequence[int]


@dataclass(frozen=True)
class Operations:
    """What one call did.

    `flops` counts matrix products, convolutions and attention, two for a multiplication with its
    addition; bias, normalisation and activation functions are left out, as everywhere. It is None
    where `reason` says why. `activations_bytes` is the largest total of tensors that operations of
    the call made and that were alive at one time; `activations_bytes_fp16` is the same with every
    floating-point number taken as two bytes. Inputs that existed before, parameters, and scratch
    memory inside one operation are not in it.
    """

    flops: int | None
    activations_bytes: int | None
    activations_bytes_fp16: int | None
    reason: str | None = None
    uncounted: tuple[str, ...] = ()
    """Operations without a formula that seem to matter: the count is a lower bound."""


def count_operations(call: Callable[[], object]) -> Operations:
    """Run the call and count; numbers are None where no torch operation was seen."""
    if loaded_torch() is None:
        call()
        return Operations(None, None, None, reason=NO_TORCH)
    from torch.utils.flop_counter import FlopCounterMode

    observer = _make_observer()
    counter = FlopCounterMode(display=False, custom_mapping=_formulas())
    # The counter is entered last, so it sees each operation first and takes apart what it can.
    with _whole_operations(), observer, counter:
        call()
    if not observer.operations:
        return Operations(None, None, None, reason="no torch operation ran in the call")
    known = set(counter.flop_registry)
    return Operations(
        flops=int(counter.get_total_flops()),
        activations_bytes=observer.memory.peak,
        activations_bytes_fp16=observer.memory.peak_fp16,
        uncounted=tuple(sorted(str(op) for op in observer.operations - known if _matters(op))),
    )


def _formulas() -> dict[Any, Any]:
    """Formulas for operations that torch counts as nothing."""
    import torch
    from torch.utils.flop_counter import sdpa_flop_count

    def attention(query: Shape, key: Shape, value: Shape, *_: object, **__: object) -> int:
        return int(sdpa_flop_count(query, key, value))

    def lstm_layer(steps: Shape, inner: Shape, outer: Shape, *_: object, **__: object) -> int:
        return 2 * math.prod(steps[:-1]) * (math.prod(inner) + math.prod(outer))

    def recurrent(steps: Shape, weights: Sequence[Shape], *_: object, **__: object) -> int:
        matrices = (math.prod(weight) for weight in weights if len(weight) == 2)
        return 2 * math.prod(steps[:-1]) * sum(matrices)

    formulas = {
        "_scaled_dot_product_flash_attention_for_cpu": attention,
        "_scaled_dot_product_fused_attention_overrideable": attention,
        "_scaled_dot_product_attention_math_for_mps": attention,
        "mkldnn_rnn_layer": lstm_layer,
        "_cudnn_rnn": recurrent,
    }
    # Which of them exist differs between versions of torch.
    own = torch.ops.aten
    return {getattr(own, name): formula for name, formula in formulas.items() if hasattr(own, name)}


def _matters(operation: Any) -> bool:
    name = str(operation)
    return name.partition(".")[0] not in _OWN or any(part in name for part in _WEIGHTY)


@contextmanager
def _whole_operations() -> Iterator[None]:
    """Keep torch from fusing a transformer layer into one operation that nothing can count."""
    import torch

    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


@dataclass
class _Memory:
    """How many bytes of tensors are alive, and how many were at most."""

    peak: int = 0
    peak_fp16: int = 0
    _now: int = 0
    _now_fp16: int = 0
    _alive: dict[int, weakref.ref[Any]] = field(default_factory=dict)

    def add(self, tensor: Any) -> None:
        """Count a tensor until its memory is given back; one that shares memory counts once."""
        storage = tensor.untyped_storage()
        address = storage._cdata
        if address in self._alive:
            return
        size = storage.nbytes()
        half = size * 2 // tensor.element_size() if tensor.is_floating_point() else size
        self._now += size
        self._now_fp16 += half
        self.peak = max(self.peak, self._now)
        self.peak_fp16 = max(self.peak_fp16, self._now_fp16)

        def forget(_: object) -> None:
            self._alive.pop(address, None)
            self._now -= size
            self._now_fp16 -= half

        self._alive[address] = weakref.ref(storage, forget)


def _make_observer() -> Any:
    """A dispatch mode; its class needs torch, so it is made where torch is there."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Observer(TorchDispatchMode):  # type: ignore[misc]  # of torch, which is untyped
        """Follows the tensors that operations make until their memory is given back."""

        def __init__(self) -> None:
            super().__init__()
            self.operations: set[Any] = set()
            self.memory = _Memory()

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.operations.add(func.overloadpacket)
            given = {_address(leaf) for leaf in tree_leaves((args, kwargs)) if _is_tensor(leaf)}
            made = func(*args, **(kwargs or {}))
            for leaf in tree_leaves(made):
                # A view, or what was changed in place, is in memory that was there before.
                if _is_tensor(leaf) and _address(leaf) not in given:
                    self.memory.add(leaf)
            return made

    return Observer()


def _is_tensor(leaf: object) -> bool:
    import torch

    return isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided and not leaf.is_meta


def _address(tensor: Any) -> int:
    address: int = tensor.untyped_storage()._cdata
    return address
