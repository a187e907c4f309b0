"""Several processes on one cache, and processes that are killed."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from rpx_core.images import encode_png
from tests.hub_desk import REPO, Desk, packed_files, plain_files, start_download
from tests.hub_sets import make_tar
from tests.local_hub import Fault, LocalHub

BIG = 3_000_000
ARCHIVE = "scenes/scene001/0/rgb.tar"


@pytest.fixture
def desk(hub: LocalHub, tmp_path: Path) -> Desk:
    return Desk(hub, tmp_path / "cache")


def test_two_processes_at_once_fetch_everything_once(desk: Desk) -> None:
    desk.hub.push(REPO, readable_files(20))
    processes = [start_download(), start_download()]
    first, second = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], (first, second)
    assert json.loads(first[0]) == json.loads(second[0])
    counts = Counter(path for path in desk.hub.fetched() if path.startswith("scenes/"))
    assert len(counts) == 40
    assert set(counts.values()) == {1}
    assert desk.left_over() == []


def readable_files(frames: int) -> dict[str, bytes]:
    """Images and depth maps that a command finds sound once they are there."""
    image = encode_png(np.zeros((4, 6, 3), np.uint8))
    depth = encode_png(np.full((4, 6), 2500, np.uint16))
    return {
        path: content if path.endswith(".json") else depth if "/depth/" in path else image
        for path, content in plain_files(frames).items()
    }


@pytest.mark.parametrize("layout", ["plain", "packed"])
def test_a_killed_download_shows_nothing_and_is_continued(desk: Desk, layout: str) -> None:
    if layout == "packed":
        frames = {"rgb/00000.webp": b"0" * BIG, "rgb/00001.webp": b"rgb 00001"}
        path, files = ARCHIVE, packed_files(frames)
    else:
        path = "scenes/scene001/0/rgb/00000.png"
        files = plain_files() | {path: b"0" * BIG}
    desk.hub.push(REPO, files)
    desk.hub.fail(path, Fault(cut_at=BIG // 2, stalls=True))
    process = start_download()
    assert desk.hub.stalled.wait(60)
    part_size(desk, at_least=BIG // 4)
    process.kill()
    process.communicate()
    assert not [name for name in desk.cached() if name == path or name.startswith(path[:-4] + "/")]
    desk.hub.asked.clear()
    fetched = desk.fetch()
    sent = [asked.range for asked in desk.hub.asked if asked.path.endswith(path)]
    assert sent
    assert int(str(sent[-1]).removeprefix("bytes=").removesuffix("-")) >= BIG // 4
    content = (fetched.root / fetched.samples[0]["rgb"]).read_bytes()
    assert content == b"0" * BIG
    assert desk.left_over() == []


def test_what_a_process_left_half_unpacked_is_swept_and_never_seen(desk: Desk) -> None:
    desk.hub.push(REPO, packed_files())
    half = desk.cache / "hub" / "me%2Ftiny" / "incoming" / "unpack-x" / "members"
    half.mkdir(parents=True)
    (half / "00000.webp").write_bytes(b"half")
    assert len(desk.fetch().samples) == 2
    assert desk.left_over() == []


def test_a_folder_without_its_list_of_members_is_replaced(desk: Desk) -> None:
    commit = desk.hub.push(REPO, packed_files())
    folder = desk.cache / "hub" / "me%2Ftiny" / "commits" / commit / "scenes/scene001/0/rgb"
    folder.mkdir(parents=True)
    (folder / "00000.webp").write_bytes(b"somebody unpacked this by hand, and was interrupted")
    fetched = desk.fetch()
    assert (fetched.root / fetched.samples[0]["rgb"]).read_bytes() == b"rgb 00000"


def test_a_cache_that_may_only_be_read_serves_what_it_holds(desk: Desk) -> None:
    desk.hub.push(
        REPO, {**packed_files(), "scenes/scene002/0/rgb.tar": make_tar({"rgb/0.webp": b""})}
    )
    fetched = desk.fetch()
    before = {path: path.stat().st_mtime_ns for path in desk.cache.rglob("*")}
    assert desk.fetch() == fetched
    assert {path: path.stat().st_mtime_ns for path in desk.cache.rglob("*")} == before


def part_size(desk: Desk, *, at_least: int) -> None:
    """Return when so much of a file has come; the stalled server sends no more than that."""
    incoming = desk.cache / "hub" / "me%2Ftiny" / "incoming"
    largest = 0
    while largest < at_least:
        for path in incoming.iterdir():
            # Others come and go meanwhile.
            with suppress(FileNotFoundError):
                largest = max(largest, path.stat().st_size)


@pytest.mark.parametrize("layout", ["plain", "packed"])
def test_without_a_lock_nobody_touches_the_bytes_of_another(
    desk: Desk, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def nothing_held(*_: object) -> Iterator[bool]:
        yield False

    monkeypatch.setattr("rpx_core.hub.download.hold", nothing_held)
    content = b"0123456789abcdef" * 2**16
    frames = {"rgb/00000.webp": content, "rgb/00001.webp": b"rgb 00001"}
    plain = plain_files(1) | {"scenes/scene001/0/rgb/00000.png": content}
    desk.hub.push(REPO, plain if layout == "plain" else packed_files(frames))
    abandoned, alive = (desk.cache / "hub/me%2Ftiny/incoming" / f"unpack-{n}" for n in "ab")
    for folder in (abandoned, alive):
        folder.mkdir(parents=True)
    os.utime(abandoned, (0, 0))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: desk.fetch(), range(4)))
    assert {(one.root / one.samples[0]["rgb"]).read_bytes() for one in found} == {content}
    assert desk.left_over() == ["unpack-b"]
