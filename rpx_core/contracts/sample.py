"""What a task makes of one record: a sample, with or without its ground truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import TruthWithheldError


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


class Frame(NamedTuple):
    """One scored frame: what pair and sequence metrics receive."""

    sample: Sample
    truth: Any
    prediction: Any


def withhold(sample: Sample) -> BlindSample:
    """The same sample without its ground truth, for models: read-only copies of all that it holds.

    Copies, because what looks at an array may write to it all the same (`torch.from_numpy` does not
    ask), and metrics see the sample again.
    """
    blind = object.__new__(BlindSample)
    for name in Sample.__dataclass_fields__:
        if name not in ("ground_truth", "metadata"):
            object.__setattr__(blind, name, map_arrays(getattr(sample, name), _copy_sealed))
    # Anything may be in there, which a model may change as well.
    own = None if sample.metadata is None else deepcopy(dict(sample.metadata))
    object.__setattr__(blind, "metadata", own)
    return blind


def seal(value: Any) -> Any:
    """The value with read-only views of its arrays: no metric can move the numbers of another."""
    return map_arrays(value, _view_sealed)


def map_arrays(value: Any, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Any:
    """The value with every array in it changed, also inside lists, mappings and dataclasses."""
    if isinstance(value, np.ndarray):
        return change(value)
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(map_arrays(part, change) for part in value)
    if isinstance(value, Mapping):
        return {key: map_arrays(part, change) for key, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = copy(value)
        for part in fields(value):
            object.__setattr__(changed, part.name, map_arrays(getattr(value, part.name), change))
        return changed
    return value


def _copy_sealed(array: NDArray[Any]) -> NDArray[Any]:
    own = array.copy()
    own.flags.writeable = False
    return own


def _view_sealed(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
