"""What all layouts do: list folders, match images with depth, say what does not match."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from rpx_core.errors import ManifestError
from rpx_core.manifest import Manifest, build_manifest
from rpx_core.records import natural_key

IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff")
DEPTHS = (".png", ".npy", ".npz", ".tif", ".tiff")
TASK = "monocular_depth"

_SHOWN = 10
_LIST_LIMIT = 2**24

RawRecord = dict[str, Any]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Pinhole = tuple[Positive, Positive, float, float]
"""fx, fy, cx, cy in pixels."""


@dataclass
class Findings:
    """Records as they are found, and the files and frames that have no place in them."""

    root: Path
    expected: str
    """What a frame looks like in this layout, for the error when there is none."""
    records: list[RawRecord] = field(default_factory=list)
    alone: list[str] = field(default_factory=list)
    """Names, relative to the root, of files without the counterpart that a record needs."""
    gaps: list[str] = field(default_factory=list)
    """Places where the frame numbers of a sequence jump."""
    notes: list[str] = field(default_factory=list)

    def name(self, path: Path) -> str:
        """A path as the manifest lists it."""
        return path.relative_to(self.root).as_posix()

    def match(self, images: Mapping[str, Path], depths: Mapping[str, Path]) -> list[str]:
        """The keys that both have, in natural order; files of the others are noted as alone."""
        for paths, others in ((images, depths), (depths, images)):
            self.alone += [self.name(paths[key]) for key in paths if key not in others]
        return sorted(images.keys() & depths.keys(), key=natural_key)

    def note_gaps(self, sequence: str, frames: Sequence[str]) -> None:
        """Note where the numbers that these frames end in jump by more than their usual step."""
        numbers = [int(match[0]) for frame in frames if (match := re.search(r"\d+$", frame))]
        steps = [after - before for before, after in pairwise(numbers)]
        if len(numbers) < len(frames) or not steps:
            return
        usual = min(Counter(steps).most_common(), key=lambda item: (-item[1], item[0]))[0]
        self.gaps += [
            f"{sequence} after {frame}"
            for frame, step in zip(frames, steps, strict=False)
            if step > usual
        ]

    def keep_listed(self, listed: Sequence[str], key: str) -> None:
        """Keep the records whose `key` a file list names; raise ManifestError when some lack."""
        wanted = set(listed)
        self.records = [record for record in self.records if record[key] in wanted]
        self.alone.clear()
        self.gaps.clear()
        missing = sorted(wanted - {record[key] for record in self.records}, key=natural_key)
        if missing:
            raise ManifestError(
                f"{len(missing)} of {len(wanted)} listed frames are not below {self.root}, or have "
                f"no depth: {shorten(missing)}",
                hint="a frame counts when both its image and its depth are there",
            )

    def manifest(self, header: Mapping[str, Any]) -> Manifest:
        """The manifest of what was found; raises ManifestError when that is nothing."""
        if not self.records:
            lost = f"; files that match nothing: {shorten(self.alone)}" if self.alone else ""
            raise ManifestError(
                f"{self.root}: holds no frame of this layout; {self.expected} was expected{lost}"
            )
        found = build_manifest({"task": TASK, **header}, self.records, root=self.root)
        return replace(found, warnings=(*found.warnings, *self._warnings()))

    def _warnings(self) -> list[str]:
        warnings = list(self.notes)
        if self.alone:
            warnings.append(f"{len(self.alone)} files without counterpart: {shorten(self.alone)}")
        if self.gaps:
            warnings.append(f"{len(self.gaps)} gaps in frame numbers: {shorten(self.gaps)}")
        return warnings


def open_root(root: Path) -> Path:
    """The folder to index; raises ManifestError when it is none."""
    folder = root.expanduser().resolve()
    if not folder.is_dir():
        raise ManifestError(f"{root}: no such folder")
    return folder


def list_folder(folder: Path) -> list[Path]:
    """What a folder holds, in natural order and without hidden names; empty when it is none."""
    try:
        found = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise ManifestError(f"{folder}: cannot be listed: {error.strerror}") from error
    for path in found:
        if not path.name.isprintable():
            raise ManifestError(
                f"{folder}: holds a name that is no printable text: {path.name!r}",
                hint="rename it; names become sample ids",
            )
    return sorted(found, key=lambda path: natural_key(path.name))


def list_folders(folder: Path) -> list[Path]:
    """The folders inside a folder, in natural order."""
    return [path for path in list_folder(folder) if path.is_dir()]


def walk_folders(folder: Path) -> Iterable[Path]:
    """A folder and all below it, parents first, in natural order; links are not followed."""
    waiting = [folder]
    while waiting:
        current = waiting.pop(0)
        yield current
        waiting[:0] = [child for child in list_folders(current) if not child.is_symlink()]


def files_by_stem(folder: Path, endings: Sequence[str], prefix: str = "") -> dict[str, Path]:
    """Files with one of these endings by their name without prefix and ending.

    Raises ManifestError when two files share one.
    """
    found: dict[str, Path] = {}
    for path in list_folder(folder):
        if path.suffix.lower() not in endings or not path.name.startswith(prefix):
            continue
        stem = path.stem.removeprefix(prefix)
        if stem in found:
            raise ManifestError(
                f"{folder}: {found[stem].name} and {path.name} are the same frame twice",
                hint="keep one of them",
            )
        found[stem] = path
    return found


def read_lines(path: Path) -> list[list[str]]:
    """The words of each line of a text file that is not empty."""
    try:
        text = path.read_text(encoding="utf-8") if path.stat().st_size <= _LIST_LIMIT else None
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"{path}: cannot be read as a text file: {error}") from error
    if text is None:
        raise ManifestError(f"{path}: is larger than {_LIST_LIMIT} bytes; a file list was expected")
    return [words for line in text.splitlines() if (words := line.split())]


def pinhole(camera: Sequence[float]) -> RawRecord:
    """Intrinsics as a record lists them, from fx, fy, cx, cy."""
    return dict(zip(("fx", "fy", "cx", "cy"), camera, strict=True))


def shorten(names: Sequence[str]) -> str:
    """The first names of many."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
