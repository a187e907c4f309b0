"""Layout `coco`: one file of annotations for a folder of images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from rpx_core.errors import ManifestError, count_of, first_few
from rpx_core.folders import open_root
from rpx_core.magnitudes import is_finite_number
from rpx_core.manifest import Manifest, build_manifest
from rpx_detection.coco_files import Annotations, read_annotations

Record = dict[str, Any]

# LVIS says per image which classes were looked for and not found, and which not exhaustively.
_LISTS = {
    "neg_category_ids": "negative_labels",
    "not_exhaustive_category_ids": "not_exhaustive_labels",
}


class CocoOptions(BaseModel):
    """`root` holds everything; `annotations` is a JSON file and `images` a folder below it.

    Both are found where they usually lie: the only `annotations/instances_*.json` (or `*.json`),
    and a folder named as its end is (`val2017`), maybe inside `images`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    annotations: Path | None = None
    images: Path | None = None


def open_coco(options: CocoOptions, cache: Path) -> Manifest:
    """Index the images of an annotation file, in the order of their ids.

    Boxes become corners in pixels and keep their annotated area; `iscrowd` and `ignore` are kept.
    Instances whose box has no area are left out and counted in a warning: nothing can match them.
    """
    root = open_root(options.root)
    path = root / options.annotations if options.annotations else _find_annotations(root)
    found = read_annotations(path)
    folder = root / options.images if options.images else _find_images(root, found)
    records: dict[int, Record] = {
        image: _image_record(found, image, folder, root) for image in found.images
    }
    flat = sum(not _add_instance(found, instance, records) for instance in found.instances)
    bare = sum(not instance.get("area") for instance in found.instances)
    manifest = build_manifest(
        {
            "name": path.stem.removeprefix("instances_"),
            "tasks": ["object_detection", "open_vocab_detection"],
            "defaults": {
                "vocabulary": list(found.categories.values()),
                "category_ids": list(found.categories),
            },
        },
        list(records.values()),
        root=root,
        known=("category_ids", *_LISTS.values()),
    )
    warnings = [
        f"{count_of(count, 'instance')} {what}"
        for count, what in (
            (flat, "left out, for the box has no area"),
            (bare, "without an area; that of the box decides on the size"),
        )
        if count
    ]
    return replace(manifest, warnings=(*manifest.warnings, *warnings))


def _find_annotations(root: Path) -> Path:
    for pattern in ("annotations/instances_*.json", "annotations/*.json", "*.json"):
        files = sorted(path for path in root.glob(pattern) if path.name != "manifest.json")
        if len(files) == 1:
            return files[0]
        if files:
            names = first_few([path.relative_to(root).as_posix() for path in files])
            raise ManifestError(
                f"{root}: several annotation files: {names}",
                hint="choose one: --set annotations='\"annotations/instances_val2017.json\"'",
            )
    raise ManifestError(
        f"{root}: no annotations/instances_*.json",
        hint="say where it is: --set annotations='\"path.json\"'",
    )


def _find_images(root: Path, found: Annotations) -> Path:
    """The folder that holds the first image."""
    split = found.path.stem.rpartition("_")[2]
    name = next(iter(found.images.values()))["file_name"] if found.images else ""
    places = [root / split, root / "images" / split, root / "images", root]
    for folder in places:
        if name and (folder / name).is_file():
            return folder
    raise ManifestError(
        f"{root}: image {name!r} lies in none of "
        f"{', '.join(place.relative_to(root).as_posix() for place in places)}",
        hint="say where the images are: --set images='\"folder\"'",
    )


def _image_record(found: Annotations, image: int, folder: Path, root: Path) -> Record:
    entry = found.images[image]
    record: Record = {
        "id": found.sample_id(image),
        "rgb": (folder / entry["file_name"]).relative_to(root).as_posix(),
        "boxes": [],
        "metadata": {"image_id": image},
    }
    for key, asset in _LISTS.items():
        if key in entry:
            record[asset] = sorted(_category(found, category) for category in entry[key])
    return record


def _add_instance(
    found: Annotations, instance: Mapping[str, Any], records: Mapping[int, Record]
) -> bool:
    """Add one instance to its image's record; False when its box has no area."""
    where = f"{found.path}: annotation {instance.get('id')}"
    if instance["image_id"] not in records:
        raise ManifestError(f"{where}: there is no image {instance['image_id']!r}")
    box = instance["bbox"]
    if not (isinstance(box, list) and len(box) == 4 and all(map(is_finite_number, box))):
        raise ManifestError(f"{where}: bbox must be [x, y, width, height]")
    x, y, width, height = box
    if not (width > 0 and height > 0):
        return False
    entry: Record = {
        "bbox": [x, y, x + width, y + height],
        "label": _category(found, instance["category_id"]),
    }
    if instance.get("area"):
        entry["area"] = instance["area"]
    entry |= {key: bool(instance[key]) for key in ("iscrowd", "ignore") if instance.get(key)}
    records[instance["image_id"]]["boxes"].append(entry)
    return True


def _category(found: Annotations, category: object) -> str:
    if category not in found.categories:
        raise ManifestError(f"{found.path}: there is no category {category!r}")
    return found.categories[category]  # type: ignore[index]  # a key, see above
