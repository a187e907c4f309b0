"""Layout `kitti`: KITTI raw drives with the annotated depth of the depth benchmark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from rpx_core.errors import ManifestError
from rpx_core.folders import IMAGES, files_by_stem, list_folders, open_root, read_lines
from rpx_core.manifest import Manifest
from rpx_depth.layouts.matching import Findings, RawRecord, pinhole

DEPTH_SCALE = 1 / 256
"""Metres per unit of the annotated 16-bit PNGs."""

_DEPTH = Path("proj_depth/groundtruth/image_02")
_LISTED = re.compile(r"(\d{4}_\d\d_\d\d_drive_\d{4}_sync)/image_02/data/(\d+)\.")


class KittiOptions(BaseModel):
    """`root` holds both downloads: raw drives by date, and `train` and `val` of annotated depth.

    Each directly or one folder down (`raw/2011_09_26/...`, `data_depth_annotated/val/...`).
    `file_list` keeps the frames that a text file names: each line starts with an image path such
    as `2011_09_26/2011_09_26_drive_0002_sync/image_02/data/0000000069.png`, as in the lists of
    the Eigen split that come with BTS; its frames lie in both splits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    split: Literal["train", "val", "all"] = "val"
    file_list: Path | None = None


def open_kitti(options: KittiOptions, cache: Path) -> Manifest:
    """Index the left colour images that have annotated depth; a drive is a sequence.

    With the calibration of the day beside the drives come intrinsics, and, where `image_03` is
    there too, the rectified right view.
    """
    findings = Findings(
        open_root(options.root),
        "<date>/<drive>/image_02/data/<frame>.png with <split>/<drive>/proj_depth/groundtruth/"
        "image_02/<frame>.png",
    )
    bases = [findings.root, *list_folders(findings.root)]
    splits = ("train", "val") if options.split == "all" else (options.split,)
    without_images = [
        drive.name
        for split in splits
        for base in bases
        for drive in list_folders(base / split)
        if not _index_drive(findings, drive, bases)
    ]
    if without_images:
        findings.notes.append(
            f"{len(without_images)} drives have depth but no raw images, the first being "
            f"{without_images[0]}"
        )
    if options.file_list is not None:
        findings.keep_listed(_read_list(options.file_list.expanduser()), "id")
    return findings.manifest(
        {"name": f"kitti-{options.split}", "defaults": {"depth_scale": DEPTH_SCALE}}
    )


def _index_drive(findings: Findings, annotated: Path, bases: list[Path]) -> bool:
    """Add the frames of one drive; False when its raw images are nowhere."""
    drive, day = annotated.name, annotated.name[:10]
    raw = next((base / day / drive for base in bases if (base / day / drive).is_dir()), None)
    depth = files_by_stem(annotated / _DEPTH, (".png",))
    if raw is None:
        return not depth
    left = files_by_stem(raw / "image_02" / "data", IMAGES)
    right = files_by_stem(raw / "image_03" / "data", IMAGES)
    cameras = _read_cameras(raw.parent / "calib_cam_to_cam.txt")
    # Raw frames at both ends of a drive have no depth: that is how the benchmark is made.
    frames = findings.match({key: path for key, path in left.items() if key in depth}, depth)
    for frame in frames:
        record: RawRecord = {
            "id": f"{drive}_{frame}",
            "scene": drive,
            "sequence": drive,
            "rgb": findings.name(left[frame]),
            "depth": findings.name(depth[frame]),
        }
        if "intrinsics" in cameras:
            record["intrinsics"] = cameras["intrinsics"]
        if "baseline_m" in cameras and frame in right:
            record |= cameras | {"rgb_right": findings.name(right[frame])}
        findings.records.append(record)
    findings.note_gaps(drive, frames)
    return True


def _read_cameras(path: Path) -> RawRecord:
    """Intrinsics of the left camera, of the right one, and their baseline; what the file has."""
    if not path.is_file():
        return {}
    rows = {words[0]: words[1:] for words in read_lines(path)}
    try:
        left, right = (
            [float(word) for word in rows.get(f"P_rect_0{camera}:", ())] for camera in (2, 3)
        )
    except ValueError as error:
        raise ManifestError(f"{path}: P_rect_02 and P_rect_03 must be numbers: {error}") from error
    if len(left) != 12:
        return {}
    cameras: RawRecord = {"intrinsics": _intrinsics(left)}
    if len(right) == 12:
        # The last column is -fx times the camera's place along x.
        cameras["intrinsics_right"] = _intrinsics(right)
        cameras["baseline_m"] = (left[3] - right[3]) / left[0]
    return cameras


def _intrinsics(projection: list[float]) -> RawRecord:
    return pinhole([projection[place] for place in (0, 5, 2, 6)])


def _read_list(path: Path) -> list[str]:
    listed = []
    for words in read_lines(path):
        match = _LISTED.search(words[0])
        if match is None:
            raise ManifestError(
                f"{path}: {words[0][:120]!r} is no left colour image of a KITTI drive"
            )
        if words[1:2] != ["None"]:
            listed.append(f"{match[1]}_{match[2]}")
    return listed
