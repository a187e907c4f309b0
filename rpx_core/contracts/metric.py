"""Metrics: the evidence that they measure, the numbers that they give, and how those are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts.sample import Frame, Sample

Aggregate = Literal["sample", "pooled", "sample_median", "group"]
Better = Literal["higher", "lower"]


class Unit(StrEnum):
    """What a metric measures at a time."""

    SAMPLE = "sample"
    PAIR = "pair"
    SEQUENCE = "sequence"
    STACK = "stack"

    @property
    def is_of_one_sample(self) -> bool:
        """Whether a row of this unit stands for one sample."""
        return self in {Unit.SAMPLE, Unit.STACK}


@dataclass(frozen=True)
class Output:
    """How to read one number: direction, unit, range, and how it is aggregated.

    `headline` is the aggregate that stands for the output in tables, cells and scores.
    An infinite `best` (PSNR of equal images) is reported as null with reason `infinite`.
    A headline outside `plausible` is a warning in the report, which ends with `doubt`: what to look
    at, mostly a unit or convention.
    `attained` is False where not even the truth as prediction reaches `best`: recall of several
    objects by one box.
    """

    better: Better | None
    unit: str = ""
    best: float | None = None
    worst: float | None = None
    headline: Aggregate = "sample"
    aggregates: tuple[Aggregate, ...] = ("sample", "pooled", "sample_median", "group")
    plausible: tuple[float, float] | None = None
    doubt: str = "check units, scale and alignment"
    summary: str = ""
    attained: bool = True


@dataclass(frozen=True)
class Undefined:
    """What `measure`, and `result` for an output, may say instead of None: why there is no value.

    Equal reasons are counted: keep what differs from sample to sample out of them.
    """

    reason: str


ResultMap = Mapping[str, float | Undefined | None]


@dataclass(frozen=True, eq=False)
class CountTable:
    """Counts by row and column, int64 (rows, columns): a confusion matrix, say."""

    caption: str
    row_axis: str
    column_axis: str
    rows: Sequence[str]
    columns: Sequence[str]
    counts: NDArray[np.int64]


class Metric(Protocol):
    """What every metric has; the four units differ in what `measure` receives.

    `measure` returns None, or Undefined with a reason, where the value is undefined: it is
    counted, never replaced by 0 or 1.
    `result` turns one state, or the fold of many, into numbers; None, or Undefined with a reason,
    marks an undefined one.
    Both are pure: inputs are not changed, nothing is remembered.

    Where present, `doubt(state) -> str | None` says of the fold of a whole run why its numbers
    should be doubted (too few images for a covariance, say): a warning in the report. And
    `tables(state) -> Mapping[str, CountTable]` gives, by output, the counts that its pooled value
    is made of; reports show them.
    """

    version: ClassVar[str]
    unit: ClassVar[Unit]
    State: ClassVar[type]
    outputs: Mapping[str, Output]

    def result(self, state: Any) -> ResultMap:
        """Numbers of one state, one per output."""
        ...


class SampleMetric(Metric, Protocol):
    """Measures one sample.

    Where present, `measure_block(frames) -> Sequence[State | Undefined | None]` measures the
    samples of a batch at once, for speed. What it says of each is to the bit what `measure` says,
    so a number cannot depend on the size of batches.
    """

    def measure(self, sample: Sample, truth: Any, prediction: Any) -> Any | None:
        """Evidence of one sample, or None where it is undefined."""
        ...


class PairMetric(Metric, Protocol):
    """Measures two adjacent frames of one sequence."""

    def measure(self, previous: Frame, current: Frame) -> Any | None:
        """Evidence of one pair, or None where it is undefined."""
        ...


class SequenceMetric(Metric, Protocol):
    """Measures all frames of one sequence, in order; their samples carry no `rgb`."""

    def measure(self, frames: Sequence[Frame]) -> Any | None:
        """Evidence of one sequence, or None where it is undefined."""
        ...


@dataclass(frozen=True, eq=False)
class Answer:
    """What one task says of a sample, as stack metrics receive it.

    `boundary` is the thin `bool[H, W]` map that `Task.boundary` makes of the prediction.
    """

    prediction: Any
    boundary: NDArray[np.bool_]


class StackMetric(Metric, Protocol):
    """Measures what several tasks predicted for one sample; `rpx stack` runs it.

    The metric's spec says in `combines` which tasks it takes. It is called once for each sample
    that all the runs have a prediction for, in the process that reads them. Predictions are as
    the runs saved them, aligned to the truth where the run did that. The sample carries no ground
    truth, no query and no `rgb`: what is measured is how predictions fit together.

    Where present, `preview(sample, answers) -> Sequence[Picture]` draws what was compared, for the
    worst samples of the primary output; there `sample.rgb` is the image if it is at hand.
    """

    def measure(self, sample: Sample, answers: Mapping[str, Answer]) -> Any | None:
        """Evidence of one sample, or None or Undefined where there is none.

        `answers` are by the bare name of the task, in the order of `combines`.
        """
        ...
