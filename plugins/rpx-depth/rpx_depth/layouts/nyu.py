"""Layout `nyu`: NYU Depth v2 as BTS and AdaBins unpack it, `<scene>/rgb_N` and `sync_depth_N`."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from rpx_core.folders import IMAGES, files_by_stem, open_root, read_lines, walk_folders
from rpx_core.manifest import Manifest
from rpx_depth.layouts.matching import Findings

INTRINSICS = {"fx": 518.857901, "fy": 519.469611, "cx": 325.582449, "cy": 253.736166}
"""The colour camera of NYU Depth v2, from the dataset's toolbox."""
MILLIMETRE = 0.001


class NyuOptions(BaseModel):
    """`root` holds the scene folders; `file_list` keeps the frames that a text file names.

    The first word of each of its lines is an image relative to `root`, as in the lists that come
    with BTS (`nyudepthv2_test_files_with_gt.txt`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    file_list: Path | None = None


def open_nyu(options: NyuOptions, cache: Path) -> Manifest:
    """Index every `rgb_<number>` (JPEG or PNG) with a `sync_depth_<number>.png` of millimetres.

    Frames stand alone: the test split is no video.
    """
    findings = Findings(
        open_root(options.root), "<scene>/rgb_00045.jpg beside <scene>/sync_depth_00045.png"
    )
    for folder in walk_folders(findings.root):
        colour = files_by_stem(folder, IMAGES, "rgb_")
        depth = files_by_stem(folder, (".png",), "sync_depth_")
        scene = findings.name(folder) if folder != findings.root else findings.root.name
        for frame in findings.match(colour, depth):
            findings.records.append(
                {
                    "id": f"{scene}_{frame}",
                    "scene": scene,
                    "sequence": f"{scene}_{frame}",
                    "rgb": findings.name(colour[frame]),
                    "depth": findings.name(depth[frame]),
                }
            )
    if options.file_list is not None:
        lines = read_lines(options.file_list.expanduser())
        findings.keep_listed([words[0].lstrip("/") for words in lines], "rgb")
    defaults = {"intrinsics": INTRINSICS, "depth_scale": MILLIMETRE}
    return findings.manifest({"name": "nyu", "defaults": defaults})
