"""The contracts between the engine and plugins: samples, tasks, metrics, models, adapters.

At this boundary everything is numpy: `uint8` RGB in HWC order, metres, radians, boxes as
half-open `xyxy` floats, 3x3 rotations, OpenCV camera axes (x right, y down, z forward), poses
camera-to-world.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import TruthWithheldError
from rpx_core.legends import Legend

if TYPE_CHECKING:
    from rpx_core.files import Files
    from rpx_core.records import Record
    from rpx_core.shared_files import SharedFormat

Truth = TypeVar("Truth")
Prediction = TypeVar("Prediction")

Aggregate = Literal["sample", "pooled", "sample_median", "group"]
Better = Literal["higher", "lower"]


class TaskType(StrEnum):
    """The ten well-known tasks; the engine accepts any other name a plugin offers."""

    MONOCULAR_DEPTH = "monocular_depth"
    OBJECT_DETECTION = "object_detection"
    OBJECT_SEGMENTATION = "object_segmentation"
    OBJECT_TRACKING = "object_tracking"
    RELATIVE_CAMERA_POSE = "relative_camera_pose"
    OPEN_VOCAB_DETECTION = "open_vocab_detection"
    VISUAL_GROUNDING = "visual_grounding"
    SPARSE_DEPTH = "sparse_depth"
    NOVEL_VIEW_SYNTHESIS = "novel_view_synthesis"
    KEYPOINT_MATCHING = "keypoint_matching"


class Phase(StrEnum):
    """When in the life of a scene a capture was made, in their order in time."""

    CLUTTER = "clutter"
    INTERACTION = "interaction"
    CLEAN = "clean"


class Difficulty(StrEnum):
    """The effort-stratified tier of a scene."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


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


@dataclass(frozen=True, eq=False)
class Sample:
    """One frame as a task sees it.

    `rgb` is `uint8[H, W, 3]`, or None for tasks without images. `camera_pose` is a 4x4
    camera-to-world matrix in metres. `query` is what the task gives the model beside the image.
    """

    id: str
    rgb: NDArray[np.uint8] | None = None
    ground_truth: Any = None
    metadata: Mapping[str, Any] | None = None
    phase: Phase | None = None
    difficulty: Difficulty | None = None
    camera_pose: NDArray[np.float64] | None = None
    scene: str | None = None
    sequence: str | None = None
    frame: int | None = None
    intrinsics: NDArray[np.float64] | None = None
    query: Any = None


class BlindSample(Sample):
    """A sample for models and adapters: all but the ground truth, which raises when touched."""

    @property
    def ground_truth(self) -> Any:
        """Raise TruthWithheldError."""
        raise TruthWithheldError(
            f"sample {self.id}: a model or adapter read `ground_truth`, which is withheld",
            hint="use `sample.query` for what the task gives to models",
        )

    def __repr__(self) -> str:
        return f"BlindSample(id={self.id!r})"


def withhold(sample: Sample) -> BlindSample:
    """The same sample without its ground truth; its arrays are read-only and its metadata a copy.

    Metrics see the arrays again: a model that resized the intrinsics in place would move them.
    """
    blind = object.__new__(BlindSample)
    for name in Sample.__dataclass_fields__:
        if name != "ground_truth":
            object.__setattr__(blind, name, _seal(getattr(sample, name)))
    return blind


def _seal(value: Any) -> Any:
    """The value with every array in it, also inside a query, as a read-only view."""
    if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(_seal(part) for part in value)
    if isinstance(value, Mapping):
        return deepcopy(dict(value))
    if is_dataclass(value) and not isinstance(value, type):
        sealed = copy(value)
        for part in fields(value):
            object.__setattr__(sealed, part.name, _seal(getattr(value, part.name)))
        return sealed
    return value


class Frame(NamedTuple):
    """One scored frame: what pair and sequence metrics receive."""

    sample: Sample
    truth: Any
    prediction: Any


@dataclass(frozen=True)
class Output:
    """How to read one number: direction, unit, range, and how it is aggregated.

    `headline` is the aggregate that stands for the output in tables, cells and scores.
    An infinite `best` (PSNR of equal images) is reported as null with reason `infinite`.
    A headline outside `plausible` is a warning in the report: mostly a wrong unit or convention.
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

    Where present, `measure_block(frames) -> State | None` measures many samples at once, for
    speed; its numbers must be those of the fold of their single states.
    """

    version: ClassVar[str]
    unit: ClassVar[Unit]
    State: ClassVar[type]
    outputs: Mapping[str, Output]

    def result(self, state: Any) -> ResultMap:
        """Numbers of one state, one per output."""
        ...


class SampleMetric(Metric, Protocol):
    """Measures one sample."""

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


@dataclass(frozen=True)
class Aligned(Generic[Prediction]):
    """A prediction after alignment, with what was fitted (scale, shift, clipped pixels, ...).

    A `note` is a sentence for the report when the fit should be doubted; equal notes are counted.
    """

    prediction: Prediction
    facts: Mapping[str, float] = field(default_factory=dict)
    note: str | None = None


@dataclass(frozen=True)
class Picture:
    """One picture of a preview: `uint8[H, W, 3]` with a caption, and how to read its colours."""

    caption: str
    image: NDArray[np.uint8]
    legend: Legend | None = None


class Task(ABC, Generic[Truth, Prediction]):
    """A task: how records become samples, what a prediction is, how it is stored and shown.

    One instance serves one worker. `version` moves whenever a number could.
    """

    version: ClassVar[str]
    suffix: ClassVar[str]
    """File name ending of a saved prediction, `.npz` say; `read_prediction` may accept more."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """Further endings that `rpx score` accepts."""
    shared: SharedFormat | None = None
    """The format of files of many samples that `rpx score` accepts, where there is one."""

    def arrange(self, records: Sequence[Record], files: Files) -> Sequence[Record]:
        """Records of the samples that one sequence gives; a pair task makes pairs of frames.

        Called with the frames of one sequence in order, in the parent, so it may read small files
        (a list of expressions, poses) but no images. Ids of the result must be unique and derive
        from the ids given. A file that cannot be read raises ManifestError and stops the command.
        """
        return records

    @abstractmethod
    def load(self, record: Record, files: Files) -> Sample:
        """The sample of one record; raises ManifestError when a file breaks the format.

        Conventions are converted here and nowhere else. What a protocol excludes by the ground
        truth alone (crops, range caps) is excluded here, so that every metric and every
        alignment sees the same evidence.
        """

    def complete(self, sample: Sample) -> Sample:
        """A sample made by a program, with the query that `load` would have given it.

        Called where no record stands behind a sample. A query that is there stays; what cannot be
        told from the sample stays unset.
        """
        return sample

    @abstractmethod
    def validate(self, prediction: Any, sample: Sample) -> Prediction:
        """The prediction, checked and in canonical dtype; raises ModelError naming the sample."""

    def align(self, method: str, frames: Sequence[Frame]) -> Sequence[Aligned[Prediction] | None]:
        """Predictions aligned to the truth by one fit over the frames given.

        Called once per sample or once per sequence, as the configuration says. None where the
        fit is undefined: the metrics of that sample are then undefined too.
        """
        return [Aligned(frame.prediction) for frame in frames]

    def boundary(self, prediction: Prediction, sample: Sample) -> NDArray[np.bool_] | None:
        """Thin boundary map of a prediction for stack metrics, or None if the task has none."""
        return None

    def perfect_prediction(self, sample: Sample) -> Prediction | None:
        """What a model that knew the ground truth would answer; None where a task cannot say.

        Only `rpx check` and tests call it: given these answers, every metric of the task must
        report what it declares as best, and they must survive being written and read.
        """
        return None

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """Pictures that show what went wrong in one frame; the first is the input."""
        return ()

    @abstractmethod
    def write_prediction(self, prediction: Prediction) -> bytes:
        """Bytes of one prediction in the task's file format, without loss."""

    @abstractmethod
    def read_prediction(self, data: bytes, name: str) -> Any:
        """The prediction stored in a file; raises ManifestError when it is not one."""


@dataclass(frozen=True)
class Runtime:
    """What a model may know of where it runs."""

    device: str
    seed: int
    cache: Path


class Model(Protocol):
    """What runs: a prediction for every sample of a batch, in order.

    Optional members, used where present: `reset()` at each sequence start (its presence means
    that the model has memory, and batches then stay inside one sequence); `batch = "sequence"`
    (wants all frames of a sequence at once); `synchronize()` before a clock is read;
    `describe() -> Mapping[str, str]` for the record; `close()` at the end; `module`, the torch
    module that does the work, or a list or mapping of several, whose parameters `--profile` counts
    (without it they are looked for in the model's attributes).
    """

    task: str

    def setup(self) -> None:
        """Load weights and move to the device; called once, before the first batch."""
        ...

    def predict(self, batch: Sequence[Sample]) -> Sequence[Any]:
        """One prediction per sample, in the order given; never changes the samples."""
        ...
