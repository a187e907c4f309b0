"""Reading the trajectory files in use: TUM, KITTI and EuRoC, told apart by their columns.

TUM: `timestamp x y z qx qy qz qw`, in seconds and metres, separated by blanks. KITTI: the upper
three rows of the pose matrix, 12 numbers, without timestamps. EuRoC: comma-separated `timestamp,
x, y, z, qw, qx, qy, qz, ...`, in nanoseconds, the real part of the quaternion first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rpx_core.arrays import is_array_file, load_arrays
from rpx_core.errors import ManifestError, RPXError
from rpx_core.magnitudes import METRES, Magnitude, find_absurd
from rpx_pose.rigid import compose
from rpx_pose.rotations import (
    QuaternionOrder,
    find_faulty,
    has_length,
    rotation_fault,
    rotations_from_quaternions,
)
from rpx_pose.types import Trajectory

Floats = NDArray[np.float64]

_TUM_COLUMNS, _KITTI_COLUMNS = 8, 12
_NANOSECONDS = 10**9
_TICKS = Magnitude(1e20, "s")
"""Nanoseconds since 1970 are 1e18: a wrong unit is told elsewhere, more helpfully."""


def read_trajectory(data: bytes, *, name: str) -> Trajectory:
    """The trajectory in a file; raises ManifestError naming file and line when it is none.

    A `.npz` with `poses` (n, 4, 4), and `timestamps` (n,) in seconds where known, is read too.
    """
    if is_array_file(data, name=name):
        arrays = load_arrays(data, name=name, require=("poses",))
        stamps = arrays.get("timestamps")
        return check_trajectory(
            Trajectory(
                arrays["poses"].astype(np.float64),
                None if stamps is None else stamps.astype(np.float64),
            ),
            name=name,
        )
    lines = _lines(data, name)
    if "," in lines[0][1]:
        return _read_euroc(lines, name)
    table = _numbers([line.split() for _, line in lines], lines, name)
    if table.shape[1] == _KITTI_COLUMNS:
        poses = compose(np.eye(3), np.zeros((len(table), 3)))
        poses[:, :3] = table.reshape(-1, 3, 4)
        return check_trajectory(Trajectory(poses), name=name)
    if table.shape[1] == _TUM_COLUMNS:
        return _assemble(table, "xyzw", name)
    raise ManifestError(
        f"{name}: lines have {table.shape[1]} numbers; 8 (TUM), 12 (KITTI) or a comma-separated "
        "EuRoC file were expected"
    )


def read_timestamps(data: bytes, *, name: str) -> Floats:
    """Timestamps in seconds (n,), one a line, as KITTI keeps them beside its poses."""
    lines = _lines(data, name)
    table = _numbers([line.split() for _, line in lines], lines, name)
    if table.shape[1] != 1:
        raise ManifestError(f"{name}: lines have {table.shape[1]} numbers; one was expected")
    check_order(table[:, 0], name=name)
    return table[:, 0]


def check_trajectory(
    trajectory: Trajectory, *, name: str, error: type[RPXError] = ManifestError
) -> Trajectory:
    """The trajectory, if its poses are rigid motions and its time never runs backwards."""
    poses, stamps = trajectory.poses, trajectory.timestamps
    if poses.ndim != 3 or poses.shape[1:] != (4, 4) or not len(poses):
        raise error(f"{name}: poses of shape (n, 4, 4) were expected, not {poses.shape}")
    broken = np.flatnonzero(~np.isfinite(poses).all(axis=(1, 2)))
    if broken.size:
        raise error(
            f"{name}: pose {broken[0]} is not finite ({broken.size} of {len(poses)} are not)",
            hint="leave out the poses that were not found; coverage says how many are there",
        )
    faulty = find_faulty(poses[:, :3, :3])
    if faulty.size:
        raise error(
            f"{name}: the rotation of pose {faulty[0]} {rotation_fault(poses[faulty[0], :3, :3])} "
            f"({faulty.size} of {len(poses)} are no rotations)",
            hint="write them with more digits, take out a scale, or check the order of columns",
        )
    absurd = find_absurd(poses[:, :3, 3], METRES)
    if absurd is not None:
        raise error(f"{name}: a position {absurd}", hint="positions are metres")
    if stamps is not None:
        if stamps.shape != (len(poses),):
            raise error(f"{name}: {stamps.size} timestamps for {len(poses)} poses")
        check_order(stamps, name=name, error=error)
    return trajectory


def check_order(timestamps: Floats, *, name: str, error: type[RPXError] = ManifestError) -> None:
    """Raise unless timestamps are finite and never decrease."""
    if not np.isfinite(timestamps).all():
        raise error(f"{name}: a timestamp is not finite")
    absurd = find_absurd(timestamps, _TICKS)
    if absurd is not None:
        raise error(f"{name}: a timestamp {absurd}", hint="timestamps are seconds")
    back = np.flatnonzero(np.diff(timestamps) < 0)
    if back.size:
        first, second = timestamps[back[0]], timestamps[back[0] + 1]
        raise error(
            f"{name}: timestamps are not sorted: pose {back[0] + 1} at {show_time(second)} follows "
            f"one at {show_time(first)}",
            hint="sort the poses by time, in one unit",
        )


def show_time(seconds: float) -> str:
    """A timestamp with its microseconds, whatever its size; no zeros at the end."""
    return f"{seconds:.6f}".rstrip("0").rstrip(".")


def _read_euroc(lines: Sequence[tuple[int, str]], name: str) -> Trajectory:
    rows = [line.split(",") for _, line in lines]
    for (number, _), row in zip(lines, rows, strict=True):
        if len(row) < _TUM_COLUMNS:
            raise ManifestError(
                f"{name}, line {number}: {len(row)} columns; at least 8 were expected (EuRoC)"
            )
    table = _numbers([row[:_TUM_COLUMNS] for row in rows], lines, name)
    try:
        # Whole nanoseconds since 1970 do not fit a float; their quotient is rounded once.
        table[:, 0] = [int(row[0]) / _NANOSECONDS for row in rows]
    except (ValueError, OverflowError):
        raise ManifestError(
            f"{name}: timestamps are not whole nanoseconds, as EuRoC files have them",
            hint="a TUM file, separated by blanks, has seconds",
        ) from None
    return _assemble(table, "wxyz", name)


def _assemble(table: Floats, order: QuaternionOrder, name: str) -> Trajectory:
    stamps, positions, quaternions = table[:, 0].copy(), table[:, 1:4], table[:, 4:8]
    usable = has_length(quaternions)
    if not usable.all():
        worst = int(np.flatnonzero(~usable)[0])
        raise ManifestError(
            f"{name}: pose {worst} has the quaternion {quaternions[worst].tolist()}, "
            "which is no rotation"
        )
    poses = compose(rotations_from_quaternions(quaternions, order=order), positions)
    return check_trajectory(Trajectory(poses, stamps), name=name)


def _lines(data: bytes, name: str) -> list[tuple[int, str]]:
    """Numbered lines that are neither empty nor comments; never none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ManifestError(f"{name}: is neither a text file nor a .npz: {error}") from error
    numbered = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    if not lines:
        raise ManifestError(f"{name}: holds no poses")
    return lines


def _numbers(rows: Sequence[Sequence[str]], lines: Sequence[tuple[int, str]], name: str) -> Floats:
    width = len(rows[0])
    for (number, line), row in zip(lines, rows, strict=True):
        if len(row) != width:
            raise ManifestError(
                f"{name}, line {number}: {len(row)} numbers, but line {lines[0][0]} has {width}: "
                f"{line[:80]!r}"
            )
    try:
        return np.array(rows, dtype=np.float64)
    except ValueError:
        pass
    for (number, line), row in zip(lines, rows, strict=True):
        try:
            np.array(row, dtype=np.float64)
        except ValueError:
            raise ManifestError(f"{name}, line {number}: not numbers: {line[:80]!r}") from None
    raise ManifestError(f"{name}: cannot be read as numbers")
