"""What every sample that a program made must be, before anything is done with it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from rpx_core.contracts import Sample
from rpx_core.errors import ManifestError, kind_of
from rpx_core.isolation import Breakdown, attempt


def check_fields(sample: Sample) -> None:
    """Raise ManifestError for an id, image, pose, matrix or metadata that is no such thing."""
    if not isinstance(sample.id, str):
        raise ManifestError(
            f"the `id` of a sample is {kind_of(sample.id)}; a text was expected",
            hint='such as "scene1_clean_0001": reports and prediction files go by it',
        )
    _check_image(sample)
    _check_matrix(sample, "camera_pose", 4)
    _check_matrix(sample, "intrinsics", 3)
    _check_metadata(sample)


def _check_image(sample: Sample) -> None:
    rgb: Any = sample.rgb
    if rgb is None:
        return
    if not isinstance(rgb, np.ndarray):
        found = kind_of(rgb)
    elif rgb.dtype != np.uint8 or rgb.ndim != 3 or rgb.shape[2] != 3:
        found = f"{rgb.dtype}{list(rgb.shape)}"
    else:
        return
    raise ManifestError(
        f"sample {sample.id}: its `rgb` is {found}; uint8[H, W, 3] was expected",
        hint="convert floats and grey images, and put the channels last",
    )


def _check_matrix(sample: Sample, name: str, size: int) -> None:
    value: Any = getattr(sample, name)
    if value is None:
        return
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
        found = value.dtype if isinstance(value, np.ndarray) else kind_of(value)
    elif value.shape != (size, size):
        found = f"of shape {value.shape}"
    else:
        return
    raise ManifestError(
        f"sample {sample.id}: `{name}` is {found}; a {size}x{size} numpy array of numbers was "
        "expected",
        hint="convert lists with np.array(); leave it out where it is not known",
    )


def _check_metadata(sample: Sample) -> None:
    if sample.metadata is None:
        return
    if not isinstance(sample.metadata, Mapping):
        raise ManifestError(
            f"sample {sample.id}: `metadata` is {kind_of(sample.metadata)}; a mapping was expected",
            hint='such as {"weather": "rain"}',
        )
    # Models get a copy: what they do to theirs must not reach the metrics.
    copied = attempt("copying it", lambda: deepcopy(dict(sample.metadata or {})))
    if isinstance(copied, Breakdown):
        raise ManifestError(
            f"sample {sample.id}: its `metadata` cannot be copied: {copied.problem}",
            hint="keep plain values in it: numbers, texts, arrays, and lists and mappings of them",
        ) from copied.error
