"""The embedded datasets, generated once into the cache and then read like any other."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from rpx_core.demo import (
    DEMO_VERSION,
    MOTORCYCLE_VERSION,
    write_demo,
    write_demo_scene,
    write_motorcycle,
)
from rpx_core.errors import DatasetError
from rpx_core.manifest import Manifest, read_manifest


def open_demo(options: None, cache: Path) -> Manifest:
    """The generated table-top scenes."""
    return _open_generated(cache / f"demo-{DEMO_VERSION}", write_demo)


def open_motorcycle(options: None, cache: Path) -> Manifest:
    """The real stereo pair."""
    return _open_generated(cache / f"motorcycle-{MOTORCYCLE_VERSION}", write_motorcycle)


def open_demo_scene(cache: Path) -> Manifest:
    """The first scene of the demo set, which has all of its keys: enough to try things on."""
    return _open_generated(cache / f"demo-scene-{DEMO_VERSION}", write_demo_scene)


def _open_generated(folder: Path, write: Callable[[Path], Path]) -> Manifest:
    """Generate beside the final place, then rename: a half-written dataset is never seen."""
    if not folder.is_dir():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        except OSError as error:
            raise DatasetError(
                f"{folder.parent} cannot be written: {error.strerror}",
                hint="set RPX_CACHE_DIR to a folder with room",
            ) from error
        try:
            write(scratch)
            scratch.chmod(0o755)
            # Another process may have finished first; its copy is the same.
            if not folder.is_dir():
                scratch.rename(folder)
        except OSError as error:
            if not folder.is_dir():
                raise DatasetError(
                    f"{folder} cannot be written: {error.strerror}",
                    hint="set RPX_CACHE_DIR to a folder with room",
                ) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    manifest = next(folder.glob("*.json"))
    return read_manifest(manifest)
