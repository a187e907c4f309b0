"""Files of predicted depths at points: `.npz`, `.npy` and `.json`."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from rpx_core.arrays import NPY_MAGIC, encode_npz, load_array, load_arrays
from rpx_core.documents import read_json
from rpx_core.errors import ManifestError
from rpx_depth.assets import parse_numbers
from rpx_depth.types import SparseDepthPrediction

_KEYS = ("coordinates", "depths")


def encode_points(prediction: SparseDepthPrediction) -> bytes:
    """The `.npz` of both arrays; equal predictions give equal bytes."""
    return encode_npz({"coordinates": prediction.coordinates, "depths": prediction.depths})


def decode_points(data: bytes, name: str) -> SparseDepthPrediction | NDArray[Any]:
    """Points with depths, or depths alone, as the file has them; the task judges their shapes.

    A `.npz` holds the arrays `coordinates` and `depths`, a `.json` an object of both; a `.npy` or
    a `.json` list holds depths alone. In JSON null stands for no answer. Raises ManifestError for
    anything else.
    """
    if name.lower().endswith(".json"):
        return _decode_json(data, name)
    if data.startswith(NPY_MAGIC):
        return load_array(data, name=name)
    arrays = load_arrays(data, name=name, require=_KEYS)
    return SparseDepthPrediction(*(arrays[key] for key in _KEYS))


def _decode_json(data: bytes, name: str) -> SparseDepthPrediction | NDArray[Any]:
    value = read_json(data, source=name)
    if isinstance(value, list):
        return parse_numbers(value, name)
    if not isinstance(value, dict) or set(value) != set(_KEYS):
        raise ManifestError(
            f"{name}: an object of `coordinates` and `depths`, or a list of depths, was expected"
        )
    return SparseDepthPrediction(*(parse_numbers(value[key], f"{name}: {key}") for key in _KEYS))
