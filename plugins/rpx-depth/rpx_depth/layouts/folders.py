"""Layout `folders`: images in one folder, depth in another, equal names."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from rpx_core.folders import IMAGES, files_by_stem, open_root, walk_folders
from rpx_core.manifest import Manifest
from rpx_depth.layouts.matching import DEPTHS, Findings, Pinhole, Positive, RawRecord, pinhole


class FoldersOptions(BaseModel):
    """`root` holds the folders `rgb` and `depth`, whose files match by name without ending.

    `depth_scale` is metres per unit (0.001 for integers and 1 for floats by default), and
    `intrinsics` are fx, fy, cx, cy of all images, in pixels.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    rgb: str = "rgb"
    depth: str = "depth"
    depth_scale: Positive | None = None
    intrinsics: Pinhole | None = None


def open_folders(options: FoldersOptions, cache: Path) -> Manifest:
    """Index two parallel folders, with the folders inside them.

    A file directly in them is a sample of its own; the files of a folder inside are one sequence,
    in natural order.
    """
    findings = Findings(
        open_root(options.root), f"{options.rgb}/<name>.png beside {options.depth}/<name>.png"
    )
    images, depths = findings.root / options.rgb, findings.root / options.depth
    for folder in walk_folders(images):
        place = folder.relative_to(images)
        _index_folder(findings, place, folder, depths / place)
    for folder in walk_folders(depths):
        if not (images / folder.relative_to(depths)).is_dir():
            findings.match({}, files_by_stem(folder, DEPTHS))
    defaults: RawRecord = {}
    if options.depth_scale is not None:
        defaults["depth_scale"] = options.depth_scale
    if options.intrinsics is not None:
        defaults["intrinsics"] = pinhole(options.intrinsics)
    return findings.manifest({"name": findings.root.name or "folders", "defaults": defaults})


def _index_folder(findings: Findings, place: Path, images: Path, depths: Path) -> None:
    colour, depth = files_by_stem(images, IMAGES), files_by_stem(depths, DEPTHS)
    frames = findings.match(colour, depth)
    for frame in frames:
        record: RawRecord = {
            "id": (place / frame).as_posix(),
            "rgb": findings.name(colour[frame]),
            "depth": findings.name(depth[frame]),
        }
        if place.parts:
            record |= {"scene": place.as_posix(), "sequence": place.as_posix()}
        findings.records.append(record)
    if place.parts:
        findings.note_gaps(place.as_posix(), frames)
