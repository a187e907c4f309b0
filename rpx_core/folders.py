"""Walking the folders of data that users already have, as every layout does it.

In natural order, without hidden names; folders that are links are not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rpx_core.documents import read_text
from rpx_core.errors import ManifestError, count_of, first_few
from rpx_core.files import expand_home
from rpx_core.records import natural_key

IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff")
"""Endings of picture files."""


def open_root(root: Path) -> Path:
    """The folder to index; raises ManifestError when it is none."""
    folder = expand_home(root).resolve()
    if not folder.is_dir():
        raise ManifestError(f"{root}: no such folder")
    return folder


def list_folder(folder: Path) -> list[Path]:
    """What a folder holds; empty when it is none.

    Raises ManifestError for a name that cannot be an id.
    """
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
    """The folders inside a folder."""
    return [path for path in list_folder(folder) if path.is_dir()]


def walk_folders(folder: Path) -> Iterable[Path]:
    """A folder and all below it, parents first."""
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


def files_below(folder: Path, endings: Sequence[str]) -> dict[str, Path]:
    """Files with one of these endings in a folder and all below it, by path without ending.

    Paths are relative to the folder and POSIX: `walk/0001`.
    """
    return {
        (place.relative_to(folder) / stem).as_posix(): path
        for place in walk_folders(folder)
        for stem, path in files_by_stem(place, endings).items()
    }


def leaving(root: Path, names: Iterable[str]) -> list[str]:
    """The names below a root that links lead out of it, where runs refuse to read them."""
    own = root.resolve()
    inside: dict[Path, bool] = {}
    found = []
    for name in names:
        path = root / name
        if path.parent not in inside:
            inside[path.parent] = path.parent.resolve().is_relative_to(own)
        if not inside[path.parent] or (
            path.is_symlink() and not path.resolve().is_relative_to(own)
        ):
            found.append(name)
    return found


def warn_of_lonely(names: Sequence[str]) -> list[str]:
    """The warning for files without the counterpart that a sample needs; none without any."""
    count = count_of(len(names), "file")
    return [f"{count} without counterpart: {first_few(names)}"] if names else []


def read_lines(path: Path) -> list[list[str]]:
    """The words of each line of a text file that is not empty."""
    return [words for line in read_text(path).splitlines() if (words := line.split())]
