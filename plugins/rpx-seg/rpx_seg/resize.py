"""Bringing a label map to the size of the image: nearest, so that no label is invented."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import ModelError

Id = TypeVar("Id", bound=np.integer[Any])


def image_size(sample: Sample) -> tuple[int, int]:
    """Height and width of a sample's image; raises ModelError when it has none."""
    if sample.rgb is None:
        raise ModelError(f"sample {sample.id}: has no image to segment")
    return sample.rgb.shape[0], sample.rgb.shape[1]


def resize_labels(labels: NDArray[Id], shape: tuple[int, int]) -> NDArray[Id]:
    """The map at another (height, width) by its nearest pixel, pixel centres at half integers."""
    if labels.shape == shape:
        return labels
    rows, columns = (
        (np.arange(new) * 2 + 1) * old // (2 * new)
        for new, old in zip(shape, labels.shape, strict=True)
    )
    resized: NDArray[Id] = labels[rows[:, None], columns]
    return resized
