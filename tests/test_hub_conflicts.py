"""Files of a repository that claim the same place: named and refused, nothing verified is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpx_core.errors import ManifestError
from tests.hub_desk import REPO, Desk, manifest_of, packed_files, plain_files
from tests.hub_sets import make_tar
from tests.local_hub import LocalHub

PHASE = "scenes/scene001/0"
PLAIN = f"{PHASE}/rgb/00000.webp"
MANIFESTS = "manifests/monocular_depth"


@pytest.fixture
def desk(hub: LocalHub, tmp_path: Path) -> Desk:
    return Desk(hub, tmp_path / "cache")


def mixed_files() -> dict[str, bytes]:
    """Archives, and in the easy split a frame that lies plainly in the folder of one."""
    easy = {"id": "a", "scene": "scene001", "rgb": PLAIN, "depth": f"{PHASE}/loose/00000.png"}
    return packed_files() | {
        PLAIN: b"plain rgb",
        f"{PHASE}/loose/00000.png": b"plain depth",
        f"{MANIFESTS}/easy.json": manifest_of([easy]),
    }


def test_an_archive_never_takes_the_place_of_a_plain_file(desk: Desk) -> None:
    desk.hub.push(REPO, mixed_files())
    fetched = desk.fetch(split="easy")
    before = desk.cached()
    with pytest.raises(ManifestError) as caught:
        desk.fetch(split="hard", keys=frozenset({"rgb", "depth"}), max_samples=2, extra=("depth",))
    assert caught.value.message == (
        f"{REPO}@main: {PHASE}/rgb.tar is unpacked to where {PLAIN} would lie: refused"
    )
    assert "--revision" in str(caught.value.hint)
    assert (fetched.root / PLAIN).read_bytes() == b"plain rgb"
    assert desk.cached() == before
    assert desk.left_over() == []
    assert desk.fetch(split="easy") == fetched


def test_a_conflict_is_told_before_anything_of_the_samples_is_fetched(desk: Desk) -> None:
    desk.hub.push(REPO, mixed_files())
    with pytest.raises(ManifestError, match=r"rgb.tar is unpacked to where .*00000.webp"):
        desk.fetch(split="all")
    assert not [path for path in desk.hub.fetched() if path.startswith("scenes/")]
    desk.hub.push(REPO, packed_files())
    assert len(desk.fetch().samples) == 2


@pytest.mark.parametrize(
    "other",
    [f"{PHASE}/RGB/1.webp", f"{PHASE}/rgb", f"{PHASE}/rgb/left.tar", f"{PHASE}/RGB.tar"],
    ids=["folder in other case", "file of the folder's name", "archive inside", "twin"],
)
def test_what_would_lie_in_the_folder_of_an_archive_is_named(desk: Desk, other: str) -> None:
    desk.hub.push(REPO, packed_files() | {other: make_tar({"1.webp": b"1"})})
    with pytest.raises(ManifestError, match=r"rgb.tar .*refused") as caught:
        desk.fetch()
    assert other in caught.value.message
    assert desk.cached() == set()


@pytest.mark.parametrize(
    ("first", "second"),
    [("00000.png", "00000.PNG"), ("caf\u00e9.png", "CAFE\u0301.png")],
    ids=["case", "composed"],
)
def test_plain_files_that_are_one_on_some_systems_are_refused(
    desk: Desk, first: str, second: str
) -> None:
    first, second = f"{PHASE}/rgb/{first}", f"{PHASE}/rgb/{second}"
    entry = {"id": "a", "scene": "s", "rgb": first, "depth": f"{PHASE}/depth/00000.png"}
    files = plain_files() | {first: b"one", second: b"two"}
    desk.hub.push(REPO, files | {f"{MANIFESTS}/hard.json": manifest_of([entry])})
    with pytest.raises(ManifestError, match="are the same file on some systems: refused") as caught:
        desk.fetch()
    assert first in caught.value.message
    assert second in caught.value.message
    assert desk.cached() == set()


def test_names_that_collide_far_from_what_is_wanted_do_no_harm(desk: Desk) -> None:
    desk.hub.push(REPO, packed_files() | {"README.md": b"", "readme.md": b"", "x/a": b"x"})
    assert len(desk.fetch().samples) == 2
