"""Prediction files with several arrays."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def encode_npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The `.npz` file of these arrays, uncompressed; equal arrays give equal bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, **dict(arrays))  # type: ignore[arg-type]  # no array is named allow_pickle
    return buffer.getvalue()
