"""The embedded datasets, generated once into the cache and then read like any other.

A cache may be damaged as any folder may: what was generated is listed with its checksums beside
it. What is incomplete is generated again; what has changed is refused when it is read.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from rpx_core.demo import (
    DEMO_VERSION,
    MOTORCYCLE_VERSION,
    write_demo,
    write_demo_scene,
    write_motorcycle,
)
from rpx_core.documents import read_json, to_json
from rpx_core.errors import DatasetError, RPXError
from rpx_core.files import MEBIBYTE, Files
from rpx_core.manifest import Manifest, read_manifest

LISTING = "checksums"
"""The size and checksum of every file that was generated, by name."""
LEFT_AFTER_SECONDS = 900.0
"""How old the folder of a generation must be to belong to one that was killed; it takes seconds."""

_LISTING_LIMIT = 4 * MEBIBYTE
_Listing = Mapping[str, tuple[int, str]]


@dataclass(frozen=True)
class _Generated:
    """A dataset in the cache: its folder, its manifest's name, and what writes it."""

    folder: Path
    manifest: str
    write: Callable[[Path], Path]


def open_demo(options: None, cache: Path) -> Manifest:
    """The generated table-top scenes."""
    return _open(_Generated(cache / f"demo-{DEMO_VERSION}", "demo.json", write_demo))


def open_motorcycle(options: None, cache: Path) -> Manifest:
    """The real stereo pair."""
    folder = cache / f"motorcycle-{MOTORCYCLE_VERSION}"
    return _open(_Generated(folder, "motorcycle.json", write_motorcycle))


def open_demo_scene(cache: Path) -> Manifest:
    """The first scene of the demo set, which has all of its keys: enough to try things on."""
    return _open(_Generated(cache / f"demo-scene-{DEMO_VERSION}", "demo.json", write_demo_scene))


def _open(generated: _Generated) -> Manifest:
    _remove_left_over(generated.folder)
    listing = _read_listing(generated)
    if listing is None:
        _generate(generated)
        listing = _read_listing(generated)
    if listing is None:
        raise DatasetError(
            f"{generated.folder} is not as it was generated",
            hint="does another program change the cache? Set RPX_CACHE_DIR to a folder of your own",
        )
    manifest = read_manifest(generated.folder / generated.manifest)
    checksums = {name: checksum for name, (_, checksum) in listing.items()}
    return replace(manifest, source=replace(manifest.source, checksums=checksums))


def _read_listing(generated: _Generated) -> _Listing | None:
    """What was generated, if all of it is still there and the manifest is unchanged."""
    folder = generated.folder
    try:
        document = read_json(folder / LISTING, error=DatasetError, limit=_LISTING_LIMIT)
        listing = {
            str(name): (int(size), str(checksum))
            for name, (size, checksum) in document.items()  # type: ignore[attr-defined]  # caught
        }
        whole = all((folder / name).stat().st_size == size for name, (size, _) in listing.items())
        manifest = Files(folder).digest(generated.manifest)
        return listing if whole and listing[generated.manifest][1] == manifest else None
    except (RPXError, OSError, AttributeError, KeyError, TypeError, ValueError):
        return None


def _generate(generated: _Generated) -> None:
    """Generate beside the final place, then rename: a half-written dataset is never seen."""
    folder = generated.folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise _unwritable(folder.parent, error) from error
    try:
        generated.write(scratch)
        (scratch / LISTING).write_bytes(to_json(_list_files(scratch)))
        scratch.chmod(0o755)
        # Another process may have finished first; its copy is the same.
        if _read_listing(generated) is None:
            _put_in_place(scratch, folder)
    except OSError as error:
        if _read_listing(generated) is None:
            raise _unwritable(folder, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _put_in_place(scratch: Path, folder: Path) -> None:
    """Rename, over what is there: that is incomplete."""
    aside = scratch.with_name(f"{scratch.name}-old")
    if os.path.lexists(folder):
        # A folder that has content cannot be renamed onto.
        folder.rename(aside)
    scratch.rename(folder)
    if aside.is_dir() and not aside.is_symlink():
        shutil.rmtree(aside, ignore_errors=True)
    else:
        aside.unlink(missing_ok=True)


def _list_files(folder: Path) -> dict[str, tuple[int, str]]:
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        name = path.relative_to(folder).as_posix()
        found[name] = (len(content), f"sha256:{hashlib.sha256(content).hexdigest()}")
    return found


def _remove_left_over(folder: Path) -> None:
    """Remove what generations that were killed have left."""
    for path in folder.parent.glob(f".{folder.name}-*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > LEFT_AFTER_SECONDS:
                shutil.rmtree(path, ignore_errors=True)


def _unwritable(place: Path, error: OSError) -> DatasetError:
    return DatasetError(
        f"{place} cannot be written: {error.strerror or error}",
        hint="set RPX_CACHE_DIR to a folder with room",
    )
