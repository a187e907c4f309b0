"""COCO's annotation files: images, categories and instances, checked as far as they are used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from rpx_core.documents import read_json
from rpx_core.errors import ManifestError
from rpx_core.files import quote

LIMIT = 2**31
"""Bytes of the largest file that is read; instances_train2017.json has a quarter of it."""


@dataclass(frozen=True)
class Annotations:
    """An annotation file: entries of images and categories by id, and the instances as they are."""

    path: Path
    images: Mapping[int, Mapping[str, Any]]
    categories: Mapping[int, str]
    instances: tuple[Mapping[str, Any], ...]

    def sample_id(self, image: int) -> str:
        """The id of an image's sample: its file name without ending."""
        return sample_id(self.images[image]["file_name"])


def sample_id(file_name: str) -> str:
    """The id of the sample of an image file."""
    return PurePosixPath(file_name).with_suffix("").as_posix()


def read_annotations(path: Path) -> Annotations:
    """Read an annotation file; raises ManifestError naming the entry that breaks the format."""
    document = read_json(path, limit=LIMIT)
    if not isinstance(document, dict):
        raise ManifestError(f"{path}: an object was expected, not {type(document).__name__}")
    parts: dict[str, list[dict[str, Any]]] = {}
    for key, wanted in (
        ("images", ("id", "file_name")),
        ("categories", ("id", "name")),
        ("annotations", ("image_id", "category_id", "bbox")),
    ):
        entries = document.get(key)
        if not isinstance(entries, list):
            raise ManifestError(f"{path}: lacks the list `{key}`; a COCO instances file has it")
        for number, entry in enumerate(entries):
            missing = [name for name in wanted if not isinstance(entry, dict) or name not in entry]
            if missing:
                raise ManifestError(f"{path}: {key}[{number}] lacks {', '.join(missing)}")
        parts[key] = entries
    return Annotations(
        path,
        {entry["id"]: entry for entry in _by_id(parts["images"], "file_name", path)},
        {entry["id"]: entry["name"] for entry in _by_id(parts["categories"], "name", path)},
        tuple(parts["annotations"]),
    )


def _by_id(entries: list[dict[str, Any]], name: str, path: Path) -> list[dict[str, Any]]:
    """Entries in the order of their ids, which must be whole numbers, and names, all distinct."""
    for entry in entries:
        if type(entry["id"]) is not int or not isinstance(entry[name], str):
            raise ManifestError(
                f"{path}: id {quote(entry['id'])} with {name} {quote(entry[name])}; a whole number "
                "and a text were expected"
            )
    for key in ("id", name):
        values = [entry[key] for entry in entries]
        if len(set(values)) < len(values):
            twice = next(value for value in values if values.count(value) > 1)
            raise ManifestError(f"{path}: the {key} {quote(twice)} occurs twice")
    return sorted(entries, key=lambda entry: entry["id"])
