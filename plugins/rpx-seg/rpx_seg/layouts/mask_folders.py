"""Layout `mask-folders`: images in one folder, masks or class maps in others, equal names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from rpx_core.errors import ManifestError
from rpx_core.folders import IMAGES, files_below, open_root, warn_of_lonely
from rpx_core.manifest import Manifest, build_manifest
from rpx_core.records import natural_key
from rpx_seg.labels import CLASSES_FILE
from rpx_seg.mask_files import SUFFIXES


class MaskFoldersOptions(BaseModel):
    """`root` holds the folders, whose files match by name without ending.

    `masks` holds instance ids, `semantic` class ids, `boxes` JSON lists; those that are there are
    used. A `classes.json` in the root names the classes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    rgb: str = "rgb"
    masks: str = "masks"
    semantic: str = "semantic"
    boxes: str = "boxes"


def open_mask_folders(options: MaskFoldersOptions, cache: Path) -> Manifest:
    """Index an image folder with what lies parallel to it, and the folders inside them.

    A file directly in them is a sample of its own; the files of a folder inside are one sequence,
    in natural order. An image is a sample when it has a mask or a class map.
    """
    root = open_root(options.root)
    images = _index(root, options.rgb, IMAGES)
    labels = {
        "mask": _index(root, options.masks, SUFFIXES),
        "semantic": _index(root, options.semantic, SUFFIXES),
    }
    boxes = _index(root, options.boxes, (".json",))
    names = sorted(set(images) & (set(labels["mask"]) | set(labels["semantic"])), key=natural_key)
    if not names:
        raise ManifestError(
            f"{root}: no image in {options.rgb}/ has a mask in {options.masks}/ or a class map in "
            f"{options.semantic}/",
            hint="files match by name: rgb/a/0001.jpg and masks/a/0001.png",
        )
    records = []
    for name in names:
        record: dict[str, Any] = {"id": name, "rgb": images[name]}
        for key, files in ({**labels, "boxes": boxes}).items():
            if name in files:
                record[key] = files[name]
        folder = name.rpartition("/")[0]
        if folder:
            record |= {"scene": folder, "sequence": folder}
        records.append(record)
    known = set(names)
    lonely = [
        path
        for files in (images, *labels.values())
        for name, path in files.items()
        if name not in known
    ]
    found = build_manifest(_header(root, records), records, root=root)
    return replace(found, warnings=(*found.warnings, *warn_of_lonely(lonely)))


def _header(root: Path, records: list[dict[str, Any]]) -> dict[str, Any]:
    tasks = [
        task
        for key, task in (("mask", "object_segmentation"), ("semantic", "semantic_segmentation"))
        if any(key in record for record in records)
    ]
    header: dict[str, Any] = {"name": root.name or "mask-folders", "tasks": tasks}
    if "semantic_segmentation" in tasks and (root / CLASSES_FILE).is_file():
        header["defaults"] = {"labels": CLASSES_FILE}
    return header


def _index(root: Path, folder: str, endings: tuple[str, ...]) -> dict[str, str]:
    """Paths relative to the root by name relative to the folder, without ending."""
    found = files_below(root / folder, endings)
    return {name: path.relative_to(root).as_posix() for name, path in found.items()}
