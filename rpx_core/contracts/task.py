"""Tasks: from records to samples, and what a prediction is, how it is stored and shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts.sample import Frame, Sample
from rpx_core.legends import Legend

if TYPE_CHECKING:
    from rpx_core.files import Files
    from rpx_core.records import Record
    from rpx_core.shared_files import SharedFormat

Truth = TypeVar("Truth")
Prediction = TypeVar("Prediction")


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
