"""From a record to source views, target and geometry; every file is read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import ManifestError
from rpx_core.files import Files
from rpx_core.frames import check_size, image_of, load_intrinsics, load_pose, load_rgb
from rpx_core.images import decode_depth, decode_labels
from rpx_core.records import Record
from rpx_core.warp import Camera, View, is_measured
from rpx_nvs.options import NovelViewSynthesisOptions
from rpx_nvs.types import Mask, Matrix, NovelViewSynthesisGroundTruth, SourceView
from rpx_nvs.visibility import find_seen

VIEW_KEYS = frozenset({"rgb", "pose", "intrinsics", "depth", "depth_scale"})
"""What one entry of a record's `sources` may hold; the first two it must."""


def load_sources(
    record: Record, sample: Sample, files: Files, options: NovelViewSynthesisOptions
) -> tuple[SourceView, ...]:
    """The record's own view and its further `sources`, all with their depth where it is listed.

    A record without `pose` is the world itself: its target pose is relative to it.
    """
    rgb = image_of(sample, "novel view synthesis")
    further = record.assets.get("sources") or ()
    if not isinstance(further, list | tuple):
        raise ManifestError(f"sample {record.id}: `sources` must be a list of views")
    if further and sample.camera_pose is None:
        raise ManifestError(
            f"sample {record.id}: with several sources each needs a pose, and the record has none"
        )
    pose = np.eye(4) if sample.camera_pose is None else sample.camera_pose
    depth = load_depth(record, files, "depth", rgb)
    own = SourceView(rgb, pose, sample.intrinsics, depth)
    return own, *(_load_view(view, record, files, options) for view in further)


def load_target_pose(record: Record, files: Files) -> Matrix:
    """The target's camera-to-world pose, `target_pose` or, as also published, `camera_pose`."""
    key = "target_pose" if record.has("target_pose") else "camera_pose"
    if not record.has(key):
        raise ManifestError(
            f"sample {record.id}: nothing says where the target is seen from",
            hint="list its camera-to-world pose as `target_pose`; a frame of a sequence as `pose`",
        )
    return load_pose(record.assets[key], record, files, key=key)


def load_target(
    record: Record,
    files: Files,
    sources: Sequence[SourceView],
    pose: Matrix,
    options: NovelViewSynthesisOptions,
) -> NovelViewSynthesisGroundTruth:
    """The target image with its pose, and what its record tells of masks and geometry."""
    rgb = load_rgb(record.path_of("target_rgb"), files, background=options.background)
    intrinsics = _target_intrinsics(record, files, sources[0])
    depth = load_depth(record, files, "target_depth", rgb)
    return NovelViewSynthesisGroundTruth(
        rgb,
        pose,
        scored=_scored(record, files, rgb, objects_only=options.objects_only),
        depth=depth,
        intrinsics=intrinsics,
        seen=_seen(depth, intrinsics, pose, sources),
    )


def load_depth(
    record: Record, files: Files, key: str, rgb: NDArray[np.uint8]
) -> NDArray[np.float32] | None:
    """A listed depth map of the image's size in metres, 0 where nothing is measured; else None."""
    if not record.has(key):
        return None
    name = record.path_of(key)
    return _depth(name, record.assets.get(f"{key}_scale"), files, (record.id, key, rgb))


def _depth(
    name: str, scale: Any, files: Files, place: tuple[str, str, NDArray[np.uint8]]
) -> NDArray[np.float32]:
    identifier, key, rgb = place
    depth = decode_depth(files.read(name), name=name, scale=scale)
    check_size(f"sample {identifier}: {key} {name}", depth.shape, rgb)
    return np.where(is_measured(depth), depth, np.float32(0))


def _load_view(
    view: Any, record: Record, files: Files, options: NovelViewSynthesisOptions
) -> SourceView:
    where = f"sample {record.id}: an entry of `sources`"
    if not isinstance(view, dict) or not {"rgb", "pose"} <= set(view) <= VIEW_KEYS:
        raise ManifestError(
            f"{where} is no view",
            hint=f"an object with rgb and pose, and perhaps {', '.join(sorted(VIEW_KEYS))}",
        )
    rgb = load_rgb(view["rgb"], files, background=options.background)
    pose = load_pose(view["pose"], record, files, key="pose of an entry of `sources`")
    intrinsics = depth = None
    if view.get("intrinsics") is not None:
        intrinsics = load_intrinsics(view["intrinsics"], record, files)
    if view.get("depth") is not None:
        place = (record.id, "depth", rgb)
        depth = _depth(view["depth"], view.get("depth_scale"), files, place)
    return SourceView(rgb, pose, intrinsics, depth)


def _target_intrinsics(record: Record, files: Files, source: SourceView) -> Matrix | None:
    """`target_intrinsics`; else those of the second image, if it is the target; else the source's.

    A record that serves pair tasks too names the camera of its second image `intrinsics_b`.
    """
    key = "target_intrinsics"
    if not record.has(key) and record.assets.get("rgb_b") == record.assets["target_rgb"]:
        key = "intrinsics_b"
    if record.has(key):
        return load_intrinsics(record.assets[key], record, files)
    return source.intrinsics


def _scored(
    record: Record, files: Files, rgb: NDArray[np.uint8], *, objects_only: bool
) -> Mask | None:
    """The pixels that count: `target_mask`, and of those the objects where only they do."""
    keys = [key for key in ("target_mask", "target_objects") if record.has(key)]
    if "target_objects" in keys and not objects_only:
        keys.remove("target_objects")
    if objects_only and not keys:
        raise ManifestError(
            f"sample {record.id}: `objects_only` needs the target's objects, and no mask is listed",
            hint="frames carry theirs as `mask`, listed samples as `target_mask`",
        )
    scored = None
    for key in keys:
        name = record.path_of(key)
        mask = decode_labels(files.read(name), name=name) != 0
        check_size(f"sample {record.id}: {key} {name}", mask.shape, rgb)
        scored = mask if scored is None else scored & mask
    return scored


def _seen(
    depth: NDArray[np.float32] | None,
    intrinsics: Matrix | None,
    pose: Matrix,
    sources: Sequence[SourceView],
) -> NDArray[np.uint8] | None:
    """Which target pixels the sources see; None unless target and all sources have geometry."""
    if depth is None or intrinsics is None:
        return None
    views = [
        View(source.depth, Camera(source.intrinsics, source.pose))
        for source in sources
        if source.depth is not None and source.intrinsics is not None
    ]
    if len(views) < len(sources):
        return None
    return find_seen(View(depth, Camera(intrinsics, pose)), views)
