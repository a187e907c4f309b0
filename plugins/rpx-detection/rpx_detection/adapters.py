"""From a Python function to a detection or grounding model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from rpx_core.adapters import FunctionModel, function_name, image_copy
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError, ModelError, kind_of
from rpx_detection.boxes import Layout, Space
from rpx_detection.predicted import (
    StoredBoxes,
    StoredDetections,
    canonical_detections,
    canonical_grounding,
)
from rpx_detection.types import (
    DetectionPrediction,
    DetectionQuery,
    GroundingQuery,
    VisualGroundingPrediction,
)

Checked = TypeVar("Checked", DetectionPrediction, VisualGroundingPrediction)
DetectionFunction = Callable[..., Any]
"""Takes uint8 RGB (H, W, 3), and the vocabulary if it has a second parameter."""
GroundingFunction = Callable[..., Any]
"""Takes uint8 RGB (H, W, 3) and the expression."""


class BoxFormat(BaseModel):
    """How the function writes a box: corners or centre and size, and of what coordinates.

    `unit` runs from 0 to 1 over the image, `thousand` from 0 to 1000.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    layout: Layout = "xyxy"
    space: Space = "pixels"


class NumpyDetectionModel(FunctionModel[DetectionPrediction]):
    """Calls a function on each image and checks what it returns.

    That is a dict of boxes (N, 4), scores (N,) and labels, or the tuple of the three.
    """

    def __init__(
        self, function: DetectionFunction, name: str, task: str, box_format: BoxFormat
    ) -> None:
        super().__init__(function, name)
        self.task = task
        self._format = box_format
        self._asks_vocabulary = _takes_second(function)

    def answer(self, sample: Sample) -> DetectionPrediction:
        """Detections; raises AdapterError when the function returns something else."""
        vocabulary = sample.query.vocabulary if isinstance(sample.query, DetectionQuery) else ()
        extra = (list(vocabulary),) if self._asks_vocabulary else ()
        answer = self._function(image_copy(sample), *extra)
        boxes, scores, labels = _parts(answer, ("boxes", "scores", "labels"), self.name, sample)
        stored = StoredDetections(boxes, scores, self._format.layout, self._format.space, labels)
        return _checked(
            lambda: canonical_detections(stored, sample, "exact", vocabulary), self.name
        )


class NumpyGroundingModel(FunctionModel[VisualGroundingPrediction]):
    """Calls a function on each image and expression and checks what it returns.

    That is a dict of boxes (N, 4) and scores (N,), or the tuple of the two; no box says that the
    expression refers to nothing.
    """

    task = "visual_grounding"

    def __init__(self, function: GroundingFunction, name: str, box_format: BoxFormat) -> None:
        super().__init__(function, name)
        self._format = box_format

    def answer(self, sample: Sample) -> VisualGroundingPrediction:
        """Boxes of the expression; AdapterError when the function returns something else."""
        if not isinstance(sample.query, GroundingQuery):
            raise AdapterError(f"sample {sample.id}: its query is no expression")
        answer = self._function(image_copy(sample), sample.query.text)
        boxes, scores = _parts(answer, ("boxes", "scores"), self.name, sample)
        stored = StoredBoxes(boxes, scores, self._format.layout, self._format.space)
        return _checked(lambda: canonical_grounding(stored, sample), self.name)


def wrap_detector(
    function: DetectionFunction, options: BoxFormat, runtime: Runtime
) -> NumpyDetectionModel:
    """The function as a detector, for the engine."""
    return NumpyDetectionModel(function, function_name(function), "object_detection", options)


def wrap_grounder(
    function: GroundingFunction, options: BoxFormat, runtime: Runtime
) -> NumpyGroundingModel:
    """The function as a grounding model, for the engine."""
    return NumpyGroundingModel(function, function_name(function), options)


def _parts(answer: Any, keys: Sequence[str], name: str, sample: Sample) -> list[Any]:
    """The named parts of a dict, or of a tuple in that order."""
    if isinstance(answer, Mapping):
        missing = [key for key in keys if key not in answer]
        if not missing:
            return [answer[key] for key in keys]
        found = f"a dict without {', '.join(missing)}"
    elif isinstance(answer, tuple | list):
        if len(answer) == len(keys):
            return list(answer)
        found = f"{len(answer)} values"
    else:
        found = "None" if answer is None else f"{kind_of(answer)}"
    raise AdapterError(
        f"sample {sample.id}: {name} returned {found}; {', '.join(keys)} were expected, as a dict "
        "or as a tuple in that order"
    )


def _checked(convert: Callable[[], Checked], name: str) -> Checked:
    try:
        return convert()
    except ModelError as error:
        raise AdapterError(f"{error.message} (returned by {name})", hint=error.hint) from error


def _takes_second(function: Callable[..., Any]) -> bool:
    """Whether a function must be given a second positional value, or names it vocabulary."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    required = [parameter for parameter in positional if parameter.default is parameter.empty]
    second = positional[1].name if len(positional) > 1 else None
    return len(required) > 1 or second == "vocabulary"
