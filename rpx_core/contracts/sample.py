"""What a task makes of one record: a sample, with or without its ground truth."""

from __future__ import annotations

from collections.abc import Mapping
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
