"""From a Python function to a view synthesis model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from rpx_core.adapters import FunctionModel, as_array, function_name, refuse_swapped
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError, ModelError
from rpx_nvs.answers import quantise
from rpx_nvs.colours import resize_colours
from rpx_nvs.types import NovelViewSynthesisPrediction, NovelViewSynthesisQuery

ViewFunction = Callable[[NDArray[np.uint8], NDArray[np.float64]], Any]
"""Takes uint8 RGB (H, W, 3) and a 4x4 pose, returns RGB (H', W', 3)."""
PoseFrame = Literal["relative", "absolute"]


class NumpyNvsOptions(BaseModel):
    """Which pose the function gets: `relative` to the source camera, or `absolute` in the world."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pose: PoseFrame = "relative"


class NumpyNvsModel(FunctionModel[NovelViewSynthesisPrediction]):
    """Calls a function on each source image and target pose, and fits its answer to the target.

    Relative: x_source = pose · x_target. Absolute: camera to world. OpenCV axes and metres either
    way. Answers are brought to 8 bits (floats from 0 to 1, integers from 0 to 255, clipped and
    rounded), then resized bilinearly.
    """

    task = "novel_view_synthesis"

    def __init__(self, function: ViewFunction, name: str, pose: PoseFrame = "relative") -> None:
        super().__init__(function, name)
        self._pose = pose

    def answer(self, sample: Sample) -> NovelViewSynthesisPrediction:
        """One view; raises AdapterError when the function returns no image."""
        query = sample.query
        if not isinstance(query, NovelViewSynthesisQuery):
            raise AdapterError(
                f"sample {sample.id}: its query names no target pose",
                hint="a sample made by a program needs `rgb` and its ground truth a `camera_pose`",
            )
        pose = query.relative_pose if self._pose == "relative" else query.target_pose
        # Copies: what the function scribbles on its inputs must not reach the report.
        answer = self._function(np.array(query.sources[0].rgb), np.array(pose))
        if isinstance(answer, NovelViewSynthesisPrediction):
            answer = answer.rgb
        try:
            array = as_array(answer, "an image of height x width x 3")
        except AdapterError as error:
            message = f"sample {sample.id}: {self.name} returned {error.message}"
            raise AdapterError(message, hint=error.hint) from error
        try:
            rgb = quantise(array)
        except ModelError as error:
            message = f"sample {sample.id}: what {self.name} returned {error.message}"
            raise AdapterError(message, hint=error.hint) from error
        refuse_swapped(rgb.shape, query.target_size, f"sample {sample.id}: {self.name}")
        return NovelViewSynthesisPrediction(resize_colours(rgb, query.target_size))


def wrap(function: ViewFunction, options: NumpyNvsOptions, runtime: Runtime) -> NumpyNvsModel:
    """The function as a model, for the engine."""
    return NumpyNvsModel(function, function_name(function), options.pose)
