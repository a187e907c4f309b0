"""What the records of depth tasks list: files, rectified right views, numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.arrays import load_array
from rpx_core.documents import read_json
from rpx_core.errors import ManifestError
from rpx_core.files import Files
from rpx_core.frames import check_size, load_intrinsics, load_rgb
from rpx_core.magnitudes import METRES, find_absurd, is_finite_number
from rpx_core.records import Record
from rpx_depth.types import DepthQuery


def check_magnitude(truth: NDArray[Any], where: str) -> None:
    """Raise ManifestError for a true depth that counts and that no sensor measures."""
    absurd = find_absurd(truth, METRES)
    if absurd is not None:
        raise ManifestError(
            f"{where}: {absurd}",
            hint="is it the background of a rendering? --set options.max_depth=80 leaves it out",
        )


def load_right_view(record: Record, files: Files, rgb: NDArray[np.uint8]) -> DepthQuery:
    """The rectified right view of a record, of the image's size; empty where none is listed."""
    if not record.has("rgb_right"):
        return DepthQuery()
    name = record.path_of("rgb_right")
    right = load_rgb(name, files)
    check_size(f"sample {record.id}: rgb_right {name}", right.shape, rgb, f"rgb {record.rgb}")
    intrinsics = None
    if record.has("intrinsics_right"):
        intrinsics = load_intrinsics(record.assets["intrinsics_right"], record, files)
    return DepthQuery(right, intrinsics, _baseline(record))


def load_numbers(record: Record, files: Files, key: str) -> NDArray[Any]:
    """The numbers under a key, from `.npy`, a single-array `.npz`, `.json`, or an inline list.

    Lists give float64, with NaN for null. Raises ManifestError naming the file or sample.
    """
    value, where = record.assets.get(key), f"sample {record.id}: `{key}`"
    if isinstance(value, str):
        where, data = value, files.read(value)
        if not value.lower().endswith(".json"):
            return load_array(data, name=where)
        value = read_json(data, source=where)
    return parse_numbers(value, where)


def parse_numbers(value: object, where: str) -> NDArray[np.float64]:
    """The float64 array of a (nested) list of numbers, null becoming NaN; else a ManifestError."""
    problem = "a list of numbers was expected"
    if not isinstance(value, list):
        raise ManifestError(f"{where}: {problem}, not {type(value).__name__}")
    try:
        array = np.asarray(value)
        numbers = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ManifestError(f"{where}: {problem}: {error}") from error
    if array.dtype.kind not in "iufO":
        raise ManifestError(f"{where}: {problem}, not of {array.dtype}")
    return numbers


def _baseline(record: Record) -> float | None:
    baseline = record.assets.get("baseline_m")
    if baseline is None:
        return None
    if not is_finite_number(baseline) or baseline <= 0:
        raise ManifestError(
            f"sample {record.id}: baseline_m is {baseline!r}; a positive number of metres was "
            "expected"
        )
    return baseline
