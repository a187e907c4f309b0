"""What models, and adapters that make models of functions, need of samples and functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import AdapterError, ModelError


def image_size(sample: Sample) -> tuple[int, int]:
    """Height and width of a sample's image; raises ModelError when it has none."""
    if sample.rgb is None:
        raise ModelError(f"sample {sample.id}: has no image")
    return sample.rgb.shape[0], sample.rgb.shape[1]


def image_copy(sample: Sample) -> NDArray[np.uint8]:
    """A sample's image for a function to have; raises AdapterError when it has none.

    What the function scribbles on it does not reach the report.
    """
    if sample.rgb is None:
        raise AdapterError(f"sample {sample.id}: has no image")
    return np.array(sample.rgb)


def function_name(function: Callable[..., Any]) -> str:
    """What a function is called; an object that is called, by its class."""
    name: str = getattr(function, "__name__", type(function).__name__)
    return name
