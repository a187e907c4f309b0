"""From frames to pairs of frames, and what two pair tasks load alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import ManifestError
from rpx_core.files import Files
from rpx_core.frames import load_intrinsics, load_pose, load_rgb, load_sample
from rpx_core.records import Record
from rpx_pose.rigid import relate
from rpx_pose.rotations import angle_between
from rpx_pose.sampling import Selection, bin_name, bin_rotations, choose_pairs
from rpx_pose.types import PairQuery, RelativePoseGroundTruth


def is_pair(record: Record) -> bool:
    """Whether a record is a pair as it stands in the manifest."""
    return record.has("rgb_b")


def pair_frames(records: Sequence[Record], gap: int) -> list[tuple[Record, Record]]:
    """Frames of one sequence whose numbers are exactly `gap` apart.

    A frame without such a partner begins no pair.
    """
    by_number = {record.frame: record for record in records}
    return [
        (record, by_number[record.frame + gap])
        for record in records
        if record.frame + gap in by_number
    ]


def spread_by_rotation(
    pairs: Sequence[tuple[Record, Record]], files: Files, selection: Selection
) -> list[Record]:
    """Some of the pairs, joined, so that small and large rotations are both seen.

    Their metadata names the bin of their rotation angle, by which results can be sliced. Raises
    ManifestError for a frame without pose.
    """
    if not pairs:
        return []
    frames = {frame.id: frame for pair in pairs for frame in pair}
    poses = {name: _pose_of(frame, files) for name, frame in frames.items()}
    sides = [np.stack([poses[pair[side].id] for pair in pairs]) for side in (0, 1)]
    angles = np.degrees(angle_between(sides[0][:, :3, :3], sides[1][:, :3, :3]))
    bins = bin_rotations(angles)
    chosen = choose_pairs(bins, pairs[0][0].sequence, selection).tolist()
    return [
        join(pairs[place][0], pairs[place][1], {"rotation_bin": bin_name(int(bins[place]))})
        for place in chosen
    ]


def join(
    first: Record, second: Record, metadata: Mapping[str, Any] = MappingProxyType({})
) -> Record:
    """The pair of two frames as one record, `<first id>..<second id>`, at the first one's place.

    Its assets are those of a published pair: `rgb_b`, `intrinsics_b`, `pose_a` and `pose_b`.
    `metadata` is added to the first frame's. Raises ManifestError where their poses have different
    axes, for a record has one convention.
    """
    if first.pose_convention != second.pose_convention:
        raise ManifestError(
            f"frames {first.id} and {second.id} have poses in different axes, "
            f"{first.pose_convention} and {second.pose_convention}",
            hint="use one pose_convention in a sequence",
        )
    assets: dict[str, Any] = {
        "rgb_b": second.rgb,
        "intrinsics_b": second.intrinsics,
        "pose_a": first.pose,
        "pose_b": second.pose,
        "correspondences": first.assets.get("correspondences"),
    }
    return first.model_copy(
        update={
            "id": f"{first.id}..{second.id}",
            "pose": None,
            "metadata": {**first.metadata, **metadata},
            "checksums": {**first.checksums, **second.checksums},
            "assets": {key: value for key, value in assets.items() if value is not None},
        }
    )


def load_pair(record: Record, files: Files, *, ground_truth: Any) -> Sample:
    """The sample of a pair with its truth and a `PairQuery`: second image and its intrinsics.

    Where those are not listed, the first camera's stand for both if the images have one size.
    """
    name = record.assets.get("rgb_b")
    if record.rgb is None or not isinstance(name, str):
        raise ManifestError(
            f"sample {record.id}: a pair needs the paths of two images, `rgb` and `rgb_b`"
        )
    sample = load_sample(record, files, ground_truth=ground_truth)
    rgb_b = load_rgb(name, files)
    intrinsics_b = None
    if record.has("intrinsics_b"):
        intrinsics_b = load_intrinsics(record.assets["intrinsics_b"], record, files)
    elif sample.rgb is not None and sample.rgb.shape == rgb_b.shape:
        intrinsics_b = sample.intrinsics
    return replace(sample, query=PairQuery(rgb_b, intrinsics_b))


def second_image(sample: Sample) -> PairQuery | None:
    """The query that `metadata["rgb_b"]`, the second image of a published sample, stands for.

    Its intrinsics are `metadata["intrinsics_b"]`, else the first camera's if the images have one
    size. None without a second image.
    """
    metadata = sample.metadata or {}
    rgb_b = metadata.get("rgb_b")
    if not isinstance(rgb_b, np.ndarray):
        return None
    intrinsics_b = metadata.get("intrinsics_b")
    if intrinsics_b is None and sample.rgb is not None and sample.rgb.shape == rgb_b.shape:
        intrinsics_b = sample.intrinsics
    return PairQuery(rgb_b, intrinsics_b)


def load_relative_pose(record: Record, files: Files) -> RelativePoseGroundTruth | None:
    """inv(A)·B of the camera-to-world poses `pose_a` and `pose_b`, or None without both."""
    if not (record.has("pose_a") and record.has("pose_b")):
        return None
    world_from_a = load_pose(record.assets["pose_a"], record, files, key="pose_a")
    world_from_b = load_pose(record.assets["pose_b"], record, files, key="pose_b")
    a_from_b = relate(world_from_a, world_from_b)
    return RelativePoseGroundTruth(a_from_b[:3, :3], a_from_b[:3, 3])


def _pose_of(frame: Record, files: Files) -> NDArray[np.float64]:
    if not frame.has("pose"):
        raise ManifestError(
            f"frame {frame.id} has no pose, without which pairs cannot be chosen by rotation",
            hint="leave it out of the manifest, or take every pair: no options.per_bin",
        )
    return load_pose(frame.pose, frame, files)
