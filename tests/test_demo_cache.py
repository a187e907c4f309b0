"""The cache of the embedded data: made whole, found incomplete, and verified when it is read."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rpx_core.demo import DEMO_VERSION, datasets
from rpx_core.demo.datasets import LEFT_AFTER_SECONDS, LISTING, open_demo
from rpx_core.demo.generator import write_dataset
from rpx_core.errors import DatasetError, ManifestError
from rpx_core.manifest import Manifest

NAME = f"demo-{DEMO_VERSION}"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One scene, drawn once."""
    folder = tmp_path_factory.mktemp("drawn") / "scene"
    write_dataset(folder, range(1))
    return folder


@pytest.fixture
def generations(drawn: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where data was generated, in order; it is copied rather than drawn."""
    found: list[Path] = []

    def write(folder: Path) -> Path:
        found.append(folder)
        shutil.copytree(drawn, folder, dirs_exist_ok=True)
        return folder / "demo.json"

    monkeypatch.setattr(datasets, "write_demo", write)
    return found


def read_all(manifest: Manifest) -> None:
    for record in manifest.records(manifest.entries):
        manifest.files.declaring(record.checksums).read(record.rgb or "")


def test_what_is_there_is_not_generated_again(tmp_path: Path, generations: list[Path]) -> None:
    first, second = (open_demo(None, tmp_path) for _ in range(2))
    assert len(generations) == 1
    assert first.dataset_id == second.dataset_id
    read_all(second)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_checksums_are_no_part_of_what_the_dataset_is(
    tmp_path: Path, drawn: Path, generations: list[Path]
) -> None:
    """Bits may differ between builds of zlib and numpy, on which no number depends."""
    from rpx_core.manifest import read_manifest

    assert open_demo(None, tmp_path).dataset_id == read_manifest(drawn / "demo.json").dataset_id


def _image(folder: Path) -> Path:
    return sorted(folder.glob("scenes/*/0/rgb/*.png"))[0]


INCOMPLETE: Mapping[str, Callable[[Path], object]] = {
    "empty": lambda folder: (shutil.rmtree(folder), folder.mkdir()),
    "a file": lambda folder: (shutil.rmtree(folder), folder.write_text("x")),
    "without its manifest": lambda folder: (folder / "demo.json").unlink(),
    "with another manifest": lambda folder: (folder / "demo.json").write_text("{}"),
    "of an earlier version": lambda folder: (folder / LISTING).unlink(),
    "with a listing of nothing": lambda folder: (folder / LISTING).write_text("{}"),
    "with a listing of another shape": lambda folder: (folder / LISTING).write_text("[1]"),
    "without an image": lambda folder: _image(folder).unlink(),
    "with half an image": lambda folder: os.truncate(_image(folder), 100),
}


@pytest.mark.parametrize("kind", INCOMPLETE)
def test_what_is_incomplete_is_generated_again(
    tmp_path: Path, generations: list[Path], kind: str
) -> None:
    open_demo(None, tmp_path)
    INCOMPLETE[kind](tmp_path / NAME)
    read_all(open_demo(None, tmp_path))
    assert len(generations) == 2
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_an_image_that_was_exchanged_is_refused(tmp_path: Path, generations: list[Path]) -> None:
    manifest = open_demo(None, tmp_path)
    path = _image(tmp_path / NAME)
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    with pytest.raises(ManifestError, match="differs from its declared checksum"):
        read_all(open_demo(None, tmp_path))
    with pytest.raises(ManifestError, match="differs from its declared checksum"):
        read_all(manifest)


def test_what_a_killed_generation_left_is_removed_once_it_is_old(
    tmp_path: Path, generations: list[Path]
) -> None:
    old, running = tmp_path / f".{NAME}-abc", tmp_path / f".{NAME}-def"
    for folder in (old, running):
        (folder / "scenes").mkdir(parents=True)
    past = time.time() - LEFT_AFTER_SECONDS - 1
    os.utime(old, (past, past))
    open_demo(None, tmp_path)
    assert not old.exists()
    assert running.exists()


def test_leftovers_beside_whole_data_are_removed_too(
    tmp_path: Path, generations: list[Path]
) -> None:
    open_demo(None, tmp_path)
    old = tmp_path / f".{NAME}-abc"
    old.mkdir()
    past = time.time() - LEFT_AFTER_SECONDS - 1
    os.utime(old, (past, past))
    open_demo(None, tmp_path)
    assert not old.exists()
    assert len(generations) == 1


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, generations: list[Path]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatasetError, match="cannot be written") as caught:
        open_demo(None, tmp_path / "file")
    assert caught.value.hint is not None
    assert "RPX_CACHE_DIR" in caught.value.hint
