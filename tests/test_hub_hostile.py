"""Answers that no sound hub gives: each is one error, and the next call is whole."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from rpx_core.errors import DownloadError
from rpx_core.hub import client
from tests.hub_desk import REPO, Desk, plain_files
from tests.local_hub import Fault, LocalHub

RGB0 = "scenes/scene001/0/rgb/00000.png"
CONTENT = plain_files()[RGB0]


@pytest.fixture
def desk(hub: LocalHub, tmp_path: Path) -> Desk:
    hub.push(REPO, plain_files())
    return Desk(hub, tmp_path / "cache")


def links(target: str) -> Fault:
    """A page of the listing that says where the next one is."""
    return Fault(body=b"[]", headers={"Link": f'<{target}>; rel="next"'})


def item(**fields: object) -> bytes:
    """A listing of one file."""
    return json.dumps([{"type": "file", "path": RGB0, "size": 1, "oid": ""} | fields]).encode()


HOSTILE: dict[str, tuple[str, list[Fault], str]] = {
    "a web page for a revision": ("revision", [Fault(body=b"<html>")], "is not JSON"),
    "no commit": ("revision", [Fault(body=b"{}")], "does not say which commit that is"),
    "a commit that climbs": (
        "revision",
        [Fault(body=b'{"sha": "../../../../../../../../../../../../x"}')],
        "does not say which commit that is",
    ),
    "a list for a revision": ("revision", [Fault(body=b"[]")], "does not say which commit"),
    "an object for a listing": ("tree", [Fault(body=b"{}")], "a list of files was expected"),
    "a file of negative size": ("tree", [Fault(body=item(size=-1))], "size"),
    "a file without a name": ("tree", [Fault(body=item(path=""))], "path"),
    "not a number": ("tree", [Fault(body=item(size=7).replace(b"7,", b"NaN,"))], "NaN"),
    "binary": ("tree", [Fault(body=b"\xff\xfe\x00")], "list of files"),
    "a next page elsewhere": ("tree", [links("https://example.org/x")], "leads elsewhere"),
    "a next page of another scheme": ("tree", [links("file:///etc/passwd")], "leads elsewhere"),
    "a next page that is no address": ("tree", [links("http://[::1")], "leads elsewhere"),
    "pages without end": ("tree", [links("?cursor=0")] * 9, "has no end"),
    "an answer without end": ("tree", [Fault(body=b" " * 20_000)], "is too long to be one"),
    "more than was listed": (RGB0, [Fault(body=CONTENT + b"x")] * 3, "more than"),
    "less than was listed": (RGB0, [Fault(body=CONTENT[:-1])] * 9, "bytes were sent"),
    "nothing": (RGB0, [Fault(body=b"")] * 3, "0 of"),
    "a status of no kind": (RGB0, [Fault(status=418)], "refuses"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_one_error_and_leaves_nothing(
    desk: Desk, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_PAGES", 5)
    monkeypatch.setattr(client, "_ANSWER_LIMIT", 10_000)
    where, faults, problem = HOSTILE[name]
    desk.hub.fail(where, *faults)
    with pytest.raises(DownloadError, match=problem) as caught:
        desk.fetch()
    assert REPO in caught.value.message
    assert caught.value.hint
    assert RGB0 not in desk.cached()
    desk.hub.faults.clear()
    assert len(desk.fetch().samples) == 5
    assert desk.left_over() == []


def test_a_range_that_is_answered_with_other_bytes_is_found_out(desk: Desk) -> None:
    long = bytes(range(250)) * 1200
    desk.hub.push(REPO, plain_files() | {RGB0: long})
    desk.hub.fail(RGB0, Fault(cut_at=200_000), Fault(status=206, body=b"z" * 100_000))
    fetched = desk.fetch()
    assert (fetched.root / RGB0).read_bytes() == long


def test_a_disk_without_room_is_told_before_anything_comes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.fetch(max_samples=1)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=10))
        with pytest.raises(DownloadError, match="GiB are free") as caught:
            desk.fetch()
    assert "RPX_CACHE_DIR" in str(caught.value.hint)
    assert len(desk.cached()) == 2
    assert len(desk.fetch().samples) == 5
