"""What all tracking metrics let users choose, and how they see a sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Frame
from rpx_detection.tracking.clip import Clip
from rpx_detection.tracking.selection import build_clip
from rpx_detection.tracking.sums import stack_classes

S = TypeVar("S")


class TrackingOptions(BaseModel):
    """Which boxes are scored.

    Without `classes` all objects are one class and labels are ignored, as in MOTChallenge. With
    them each class is scored on its own, by equal labels, and the numbers are averaged over the
    classes (counts are added), as in KITTI; one class named gives the numbers of that class. The
    first `skip_frames` of every sequence do not count: those that the model was given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    classes: tuple[str, ...] = ()
    skip_frames: Annotated[int, Field(ge=0)] = 0


class MatchingOptions(TrackingOptions):
    """The same, and the IoU from which on two boxes match."""

    min_iou: Annotated[float, Field(gt=0, le=1)] = 0.5


def measure_classes(
    frames: Sequence[Frame], options: TrackingOptions, measure: Callable[[Clip], S]
) -> S | None:
    """The state of each class, stacked; None when no frame is left to score."""
    scored = frames[options.skip_frames :]
    if not scored:
        return None
    truths = [frame.truth for frame in scored]
    predictions = [frame.prediction for frame in scored]
    labels = options.classes or (None,)
    return stack_classes([measure(build_clip(truths, predictions, label)) for label in labels])
