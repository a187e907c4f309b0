"""Layout `yolo`: images, and beside them a text file of boxes for each."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from rpx_core.documents import read_text
from rpx_core.errors import ManifestError
from rpx_core.files import FILE_LIMIT, read_file
from rpx_core.folders import IMAGES, files_below, open_root, warn_of_lonely
from rpx_core.image_formats import read_image_header
from rpx_core.manifest import Manifest, build_manifest
from rpx_core.records import natural_key
from rpx_detection.yolo_lines import parse_lines

Record = dict[str, Any]

_NAMES = re.compile(r"^names:", re.MULTILINE)
_ENTRY = re.compile(r"(?:-|(\d{1,9}):)(.*)")


class YoloOptions(BaseModel):
    """`root` holds `images` and `labels`, each maybe with a folder per `split`.

    Class names come from `names`, else from `data.yaml`, `dataset.yaml`, `classes.txt` or
    `obj.names` in the root.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    split: str | None = None
    names: tuple[str, ...] = ()


def open_yolo(options: YoloOptions, cache: Path) -> Manifest:
    """Index images with their boxes; an image without a label file has no objects.

    A line is `class x y width height`: an index, then the centre and size of the box as fractions
    of the image. Label files without an image are named in a warning.
    """
    root, split = open_root(options.root), options.split or ""
    names = options.names or _read_names(root)
    images = files_below(root / "images" / split, IMAGES)
    labels = files_below(root / "labels" / split, (".txt",))
    if not images:
        raise ManifestError(
            f"{root / 'images' / split}: holds no images ({', '.join(IMAGES)})",
            hint="the layout is ROOT/images/... and ROOT/labels/...",
        )
    records = [
        _record(root, images[name], labels.get(name), names)
        for name in sorted(images, key=natural_key)
    ]
    manifest = build_manifest(
        {
            "name": "-".join(part for part in (root.name, options.split) if part),
            "tasks": ["object_detection", "open_vocab_detection"],
            "defaults": {"vocabulary": list(names)},
        },
        records,
        root=root,
    )
    lonely = [
        path.relative_to(root).as_posix()
        for name, path in labels.items()
        if name not in images and path.name != "classes.txt"
    ]
    return replace(manifest, warnings=(*manifest.warnings, *warn_of_lonely(lonely)))


def _record(root: Path, image: Path, labels: Path | None, names: tuple[str, ...]) -> Record:
    boxes = []
    if labels is not None:
        content = read_file(image, source=str(image), limit=FILE_LIMIT)
        header = read_image_header(content, name=str(image))
        boxes = _read_labels(labels, names, (header.width, header.height))
    return {
        "id": image.relative_to(root / "images").with_suffix("").as_posix(),
        "rgb": image.relative_to(root).as_posix(),
        "boxes": boxes,
    }


def _read_labels(path: Path, names: tuple[str, ...], size: tuple[int, int]) -> list[Record]:
    boxes = []
    for where, index, numbers in parse_lines(
        read_text(path),
        ("x", "y", "width", "height"),
        source=str(path),
        hint="polygons and turned boxes are other formats",
    ):
        if index >= len(names):
            raise ManifestError(f"{where}: class {index} is not one of the {len(names)} names")
        if not (numbers[2] > 0 and numbers[3] > 0):
            raise ManifestError(
                f"{where}: width {numbers[2]:g} and height {numbers[3]:g}; both must be above 0",
                hint="remove the line: a box without area cannot be found",
            )
        boxes.append({"bbox": _corners(numbers, size), "label": names[index]})
    return boxes


def _corners(numbers: list[float], size: tuple[int, int]) -> list[float]:
    x, y, width, height = (value * side for value, side in zip(numbers, size * 2, strict=True))
    return [x - width / 2, y - height / 2, x + width / 2, y + height / 2]


def _read_names(root: Path) -> tuple[str, ...]:
    for name in ("data.yaml", "dataset.yaml"):
        if (root / name).is_file():
            return _names_of_yaml(read_text(root / name), root / name)
    for name in ("classes.txt", "obj.names", "labels/classes.txt"):
        if (root / name).is_file():
            lines = (line.strip() for line in read_text(root / name).splitlines())
            return tuple(line for line in lines if line)
    raise ManifestError(
        f"{root}: nothing says what the classes are called",
        hint='add data.yaml or classes.txt, or --set names=\'["person", "car"]\'',
    )


def _names_of_yaml(text: str, path: Path) -> tuple[str, ...]:
    """The names in one of the three forms that YOLO files have: [a, b], - a, 0: a."""
    found = _NAMES.search(text)
    after = text[found.end() :].lstrip() if found else ""
    if after.startswith("["):
        inside, closed, _ = after[1:].partition("]")
        entries = [("", word) for word in inside.split(",") if word.strip()] if closed else []
    else:
        entries = _block_entries(text[found.end() :] if found else "")
    numbers = [int(number) for number, _ in entries if number]
    if not entries or numbers not in ([], list(range(len(entries)))):
        raise ManifestError(
            f"{path}: `names` is no list of class names, or skips some",
            hint='--set names=\'["person", "car"]\' says them here',
        )
    return tuple(_unquote(name) for _, name in entries)


def _block_entries(text: str) -> list[tuple[str, str]]:
    """Number (empty behind a dash) and name of each entry of an indented list after its key."""
    first, *lines = text.split("\n")
    entries = []
    # Line by line, and not by one pattern: a long file of blanks took time quadratic in it.
    for line in lines if not first.strip() or first.lstrip().startswith("#") else ():
        if line.strip() and not line.startswith((" ", "\t", "-")):
            break
        entry = _ENTRY.match(line.strip())
        if entry and entry[2].strip():
            entries.append((entry[1] or "", entry[2].strip()))
    return entries


def _unquote(word: str) -> str:
    """A plain or quoted word, without the comment behind it."""
    word = word.strip()
    quoted = re.match(r"""(['"])(.*?)\1""", word)
    return quoted[2] if quoted else re.split(r"\s#", word, maxsplit=1)[0].rstrip()
