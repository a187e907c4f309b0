"""From the frames of a sequence to samples: source views here, and a target further on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rpx_core.errors import ManifestError
from rpx_core.records import Record


def is_sample(record: Record) -> bool:
    """Whether a record already names the view to synthesise."""
    return record.has("target_rgb")


def pair_frames(records: Sequence[Record], *, gap: int, sources: int) -> list[Record]:
    """Samples of frames: each frame with its `sources - 1` predecessors, and the target after it.

    Neighbours are frames of one sequence whose numbers are exactly `gap` apart; a frame that lacks
    one of them makes no sample. Raises ManifestError where poses of one sequence differ in
    convention.
    """
    if len({record.pose_convention for record in records}) > 1:
        raise ManifestError(
            f"sequence {records[0].sequence}: its frames declare different pose conventions",
            hint="convert the poses to one convention",
        )
    by_number = {record.frame: record for record in records}
    samples = []
    for record in records:
        target = by_number.get(record.frame + gap)
        earlier = [by_number.get(record.frame - gap * back) for back in range(1, sources)]
        present = [frame for frame in earlier if frame is not None]
        if target is not None and len(present) == len(earlier):
            samples.append(join(record, target, present))
    return samples


def join(source: Record, target: Record, earlier: Sequence[Record] = ()) -> Record:
    """One sample as a record, `<source id>..<target id>`, at the source's place in the sequence.

    Its assets are those of a listed sample: `target_rgb`, `target_pose`, `target_intrinsics`,
    `target_depth`, `target_depth_scale`, `target_mask` (the target frame's objects), and `sources`
    for further views.
    """
    assets: dict[str, Any] = {
        "target_rgb": target.rgb,
        "target_pose": target.pose,
        "target_intrinsics": target.intrinsics,
        "target_depth": target.assets.get("depth"),
        "target_depth_scale": target.assets.get("depth_scale"),
        "target_objects": target.assets.get("mask"),
        "depth": source.assets.get("depth"),
        "depth_scale": source.assets.get("depth_scale"),
        "sources": [_view(frame) for frame in earlier] or None,
    }
    frames = (source, *earlier, target)
    checksums = {name: value for frame in frames for name, value in frame.checksums.items()}
    return source.model_copy(
        update={
            "id": f"{source.id}..{target.id}",
            "checksums": checksums,
            "assets": {key: value for key, value in assets.items() if value is not None},
        }
    )


def _view(frame: Record) -> Mapping[str, Any]:
    view = {
        "rgb": frame.rgb,
        "pose": frame.pose,
        "intrinsics": frame.intrinsics,
        "depth": frame.assets.get("depth"),
        "depth_scale": frame.assets.get("depth_scale"),
    }
    return {key: value for key, value in view.items() if value is not None}
