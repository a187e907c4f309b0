"""Loading what all tasks share of a record: image, intrinsics, pose, and the rest of a sample."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.arrays import load_array, load_arrays
from rpx_core.contracts import Sample
from rpx_core.documents import read_json
from rpx_core.errors import ManifestError, ModelError, kind_of
from rpx_core.files import Files
from rpx_core.geometry import (
    Matrix,
    check_intrinsics,
    check_pose,
    opencv_from_t265,
    pose_matrix,
    rotation_from_xyzw,
)
from rpx_core.images import Colour, decode_rgb
from rpx_core.records import Record


def load_sample(
    record: Record,
    files: Files,
    *,
    ground_truth: Any,
    query: Any = None,
    background: Colour | None = None,
) -> Sample:
    """The sample of a record with its image, intrinsics and pose; the task adds truth and query.

    `background` is what a transparent image is laid over, which is an error without.
    """
    return Sample(
        id=record.id,
        rgb=load_rgb(record.rgb, files, background=background) if record.rgb is not None else None,
        ground_truth=ground_truth,
        metadata=deepcopy(record.metadata),
        phase=record.phase,
        difficulty=record.difficulty,
        camera_pose=load_pose(record.pose, record, files) if record.has("pose") else None,
        scene=record.scene,
        sequence=record.sequence,
        frame=record.frame,
        intrinsics=load_intrinsics(record.intrinsics, record, files)
        if record.has("intrinsics")
        else None,
        query=query,
    )


def load_rgb(name: str, files: Files, *, background: Colour | None = None) -> NDArray[np.uint8]:
    """An image asset as `uint8[H, W, 3]`, laid over the background where it is transparent."""
    return decode_rgb(files.read(name), name=name, background=background)


def image_of(sample: Sample, purpose: str) -> NDArray[np.uint8]:
    """The image of a loaded sample; raises ManifestError where its record lists none."""
    if sample.rgb is None:
        raise ManifestError(f"sample {sample.id}: no `rgb` is listed; {purpose} needs an image")
    return sample.rgb


def expected_size(sample: Sample, key: str) -> tuple[int, int]:
    """Height and width that a predicted map must have: those of the true map that is called `key`.

    Without a truth they are the image's, as the two show the same pixels. Raises ModelError where
    there is neither.
    """
    truth = sample.ground_truth
    shown = sample.rgb if truth is None else getattr(truth, key, None)
    if shown is None and truth is not None:
        raise ManifestError(
            f"sample {sample.id}: its ground truth is {kind_of(truth)} without `{key}`",
            hint="give it the ground truth of the task, or none",
        )
    if shown is None:
        raise ModelError(
            f"sample {sample.id} has neither ground truth nor image, so no prediction fits it",
            hint="give the sample one of them: its size says which prediction fits",
        )
    height, width = shown.shape[:2]
    return height, width


def check_size(
    where: str, shape: tuple[int, ...], image: NDArray[np.uint8], name: str = "its image"
) -> None:
    """Raise ManifestError unless a map has the height and width of the image that it is of."""
    if shape[:2] != image.shape[:2]:
        raise ManifestError(
            f"{where} is {shape[0]}x{shape[1]}, but {name} is {image.shape[0]}x{image.shape[1]} "
            "(height x width)",
            hint="the two must show the same pixels; register them before listing them",
        )


def load_intrinsics(value: Any, record: Record, files: Files) -> Matrix:
    """A 3x3 camera matrix from inline numbers, `{fx, fy, cx, cy}`, or a file that holds either."""
    where = f"sample {record.id}: intrinsics"
    if isinstance(value, str):
        where = value
        value = _read_numbers(value, files)
    if isinstance(value, dict):
        try:
            fx, fy, cx, cy = (float(value[key]) for key in ("fx", "fy", "cx", "cy"))
        except (KeyError, TypeError, ValueError) as error:
            raise ManifestError(f"{where}: numbers fx, fy, cx, cy were expected") from error
        value = [[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]]
    return check_intrinsics(_numbers(value, where), name=where)


def load_pose(value: Any, record: Record, files: Files, *, key: str = "pose") -> Matrix:
    """A camera-to-world pose in OpenCV axes and metres, from whatever the record declares.

    Inline 4x4, `.npy` of 4x4 or (7,) `x y z qx qy qz qw`, or `position` and `orientation`
    (x, y, z, w), inline or as `.npz`. The record's `pose_convention` says whose axes these are.
    Errors name the `key` that lists it.
    """
    where = f"sample {record.id}: {key}"
    if isinstance(value, str):
        where = f"{where}: {value}"
        pose = _pose_file(value, files, where)
    elif isinstance(value, dict):
        pose = _pose_by_name(value, where)
    else:
        pose = _numbers(value, where)
    pose = check_pose(pose, name=where)
    return opencv_from_t265(pose) if record.pose_convention == "t265" else pose


def _pose_file(name: str, files: Files, where: str) -> Matrix:
    data = files.read(name)
    if name.lower().endswith(".npz"):
        return _pose_by_name(load_arrays(data, name=where), where)
    array = _numbers(load_array(data, name=where), where)
    if array.shape != (7,):
        return array
    return pose_matrix(rotation_from_xyzw(array[3:], name=where), _position(array[:3], where))


def _pose_by_name(parts: Mapping[str, Any], where: str) -> Matrix:
    if not {"position", "orientation"} <= set(parts):
        raise ManifestError(
            f"{where}: `position` (x, y, z) and `orientation` (x, y, z, w) were expected"
        )
    orientation = _numbers(parts["orientation"], where)
    return pose_matrix(
        rotation_from_xyzw(orientation, name=where), _position(parts["position"], where)
    )


def _position(value: NDArray[Any], name: str) -> Matrix:
    position = _numbers(value, name).reshape(-1)
    if position.shape != (3,):
        raise ManifestError(f"{name}: a position has 3 numbers, not {position.size}")
    return position


def _read_numbers(name: str, files: Files) -> Any:
    data = files.read(name)
    if name.lower().endswith(".json"):
        return read_json(data, source=name)
    if name.lower().endswith(".npz"):
        arrays = load_arrays(data, name=name)
        return next(iter(arrays.values())) if len(arrays) == 1 else dict(arrays)
    return load_array(data, name=name)


def _numbers(value: Any, where: str) -> Matrix:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ManifestError(f"{where}: numbers were expected") from error
