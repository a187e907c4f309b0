"""Ctrl-C during a download: it ends at once, shows nothing half, and the next call goes on."""

from __future__ import annotations

import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from rpx_core.errors import DownloadError
from rpx_core.hub.archives import Unpacking, unpack
from rpx_core.hub.cancellation import Cancellation, CancelledError
from rpx_core.hub.transport import TIMEOUT_S
from tests.hub_desk import REPO, Desk, plain_files, start_download
from tests.hub_sets import make_tar
from tests.local_hub import Fault, LocalHub

RGB0, RGB1 = (f"scenes/scene001/0/rgb/0000{number}.png" for number in range(2))
PROMPT_S = TIMEOUT_S / 2
"""Generous for a busy machine, and well before a silent connection is given up."""


@pytest.fixture
def desk(hub: LocalHub, tmp_path: Path) -> Desk:
    hub.push(REPO, plain_files())
    return Desk(hub, tmp_path / "cache")


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("revision", Fault(silent=True)),
        ("tree", Fault(silent=True)),
        (RGB0, Fault(silent=True)),
        (RGB0, Fault(cut_at=100, stalls=True)),
    ],
    ids=["silent revision", "silent listing", "silent file", "stalled body"],
)
def test_an_interrupted_download_ends_at_once_and_is_done_by_the_next(
    desk: Desk, path: str, fault: Fault
) -> None:
    desk.hub.fail(path, fault)
    process = start_download()
    assert desk.hub.stalled.wait(60)
    interrupt(process)
    assert RGB0 not in desk.cached()
    assert len(desk.fetch().samples) == 5
    assert desk.left_over() == []


def test_a_hub_that_asks_for_a_long_wait_does_not_hold_up_ctrl_c(desk: Desk) -> None:
    desk.hub.fail(RGB0, Fault(status=429, headers={"Retry-After": "300"}))
    process = start_download()
    assert desk.hub.refused.wait(60)
    assert process.poll() is None
    interrupt(process)
    assert len(desk.fetch().samples) == 5


def test_an_error_is_told_at_once_while_other_files_stall(desk: Desk) -> None:
    desk.hub.fail(RGB0, Fault(silent=True))
    desk.hub.fail(RGB1, Fault(status=404, after=desk.hub.stalled))
    process = start_download()
    assert desk.hub.stalled.wait(60)
    out, _ = end_soon(process)
    assert process.returncode == 2
    assert f"there is no {RGB1}" in out


def test_after_an_error_the_same_program_fetches_again_beside_what_still_stalls(
    desk: Desk,
) -> None:
    desk.hub.fail(RGB0, Fault(cut_at=100, stalls=True))
    desk.hub.fail(RGB1, Fault(status=404, after=desk.hub.stalled))
    with pytest.raises(DownloadError, match=f"there is no {RGB1}"):
        desk.fetch()
    fetched = desk.fetch()
    desk.hub.ended.set()
    assert (fetched.root / RGB0).read_bytes() == plain_files()[RGB0]
    assert desk.left_over() == []


def test_who_waits_is_not_waited_for_and_does_nothing_when_it_comes_back() -> None:
    cancellation, arrived, answer = Cancellation(), threading.Event(), threading.Event()
    done: list[str] = []

    def work() -> None:
        with cancellation.work():
            with cancellation.wait():
                arrived.set()
                answer.wait()
            done.append("more")

    def run() -> None:
        with pytest.raises(CancelledError):
            work()
        done.append("ended")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert arrived.wait(60)
    cancellation.cancel()
    assert done == []
    answer.set()
    thread.join(60)
    assert done == ["ended"]


def test_who_works_is_waited_for() -> None:
    cancellation, arrived, done = Cancellation(), threading.Event(), list[str]()

    def work() -> None:
        with suppress(CancelledError), cancellation.work():
            arrived.set()
            while True:
                cancellation.check()
                done.append("part")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert arrived.wait(60)
    cancellation.cancel()
    count = len(done)
    thread.join(60)
    assert len(done) == count
    with pytest.raises(CancelledError), cancellation.work():
        done.append("never")


def test_unpacking_ends_when_it_is_called_back_and_leaves_nothing(tmp_path: Path) -> None:
    archive = tmp_path / "rgb.tar"
    archive.write_bytes(make_tar({"rgb/1.webp": b"one", "rgb/2.webp": b"two"}))
    cancellation, calls = Cancellation(), list[int]()

    def check() -> None:
        calls.append(1)
        if len(calls) == 4:  # In the middle of what is written.
            cancellation.cancel()
        cancellation.check()

    with pytest.raises(CancelledError):
        unpack(archive, tmp_path / "out", Unpacking("rgb.tar", "sha256:0", {}, check))
    assert [path.name for path in tmp_path.iterdir()] == ["rgb.tar"]


def interrupt(process: subprocess.Popen[str]) -> None:
    """Press Ctrl-C, and expect the end that an interrupt has."""
    process.send_signal(signal.SIGINT)
    out, err = end_soon(process)
    assert process.returncode == 130, err
    assert '"message": "interrupted"' in out
    assert "Traceback" not in err


def end_soon(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process that ends before the silent connection would has printed."""
    try:
        return process.communicate(timeout=PROMPT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
