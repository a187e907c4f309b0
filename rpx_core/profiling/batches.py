"""The batches that a model is profiled on: samples of the run's data, cut as a run cuts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rpx_core.contracts import Model, Sample
from rpx_core.model_calls import has_memory

MAX_SAMPLES = 64
"""Samples that are held in memory at once, unless one batch is larger."""


@dataclass(frozen=True)
class Batch:
    """Samples of one call; `starts` where a model with memory must forget first."""

    samples: tuple[Sample, ...]
    starts: bool = False


@dataclass(frozen=True)
class Batches:
    """Some batches, which are gone through again and again."""

    batches: tuple[Batch, ...]

    def at(self, index: int) -> Batch:
        """The batch of call `index`."""
        return self.batches[index % len(self.batches)]

    @property
    def samples(self) -> int:
        """How many different samples there are."""
        return sum(len(batch.samples) for batch in self.batches)


def cut_batches(samples: Sequence[Sample], model: Model, batch_size: int) -> Batches:
    """The samples, which lie in order of their sequences, as a run would batch them.

    Short batches at the end of something are left out where there are full ones: they would
    mix two latencies.
    """
    whole = getattr(model, "batch", None) == "sequence"
    if not whole and not has_memory(model):
        return _full(_chunks(samples, batch_size), batch_size)
    cut: list[Batch] = []
    for _, group in groupby(samples, key=lambda sample: sample.sequence or sample.id):
        frames = list(group)
        pieces = list(_chunks(frames, len(frames) if whole else batch_size))
        cut += [Batch(piece.samples, starts=number == 0) for number, piece in enumerate(pieces)]
    return Batches(tuple(cut)) if whole else _full(cut, batch_size)


def _chunks(samples: Sequence[Sample], size: int) -> Iterator[Batch]:
    for start in range(0, len(samples), size):
        yield Batch(tuple(samples[start : start + size]))


def _full(batches: Iterable[Batch], size: int) -> Batches:
    found = tuple(batches)
    full = tuple(batch for batch in found if len(batch.samples) == size)
    return Batches(full or found)
