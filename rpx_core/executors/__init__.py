"""How the work of a run is spread: in this process, or over worker processes.

No executor can change a number: rows are folded in id order, whoever wrote them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from rpx_core.blocks import Block
from rpx_core.worker import Work

CHUNK_SAMPLES = 16
"""Short sequences travel together, so that scheduling costs little per sample."""


class Observer(Protocol):
    """Hears of progress, in the parent process."""

    def started(self, sample_ids: Sequence[str]) -> None:
        """These samples are now in flight."""
        ...

    def closed(self, block: Block) -> None:
        """This sequence is committed."""
        ...


def chunks(works: Iterable[Work], batch_size: int) -> Iterator[tuple[Work, ...]]:
    """Works grouped so that each group fills a batch and is worth sending."""
    group: list[Work] = []
    samples = 0
    for work in works:
        group.append(work)
        samples += len(work.records)
        if samples >= max(CHUNK_SAMPLES, batch_size):
            yield tuple(group)
            group, samples = [], 0
    if group:
        yield tuple(group)
