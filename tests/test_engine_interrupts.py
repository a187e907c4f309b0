"""Ctrl-C: the exit code says so, no worker stays behind, and the same command goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.toys.lab import Lab

PATIENCE = 30.0


def start(lab: Lab, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        lab.command(*arguments),
        cwd=lab.folder,
        env=lab.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Poll until a condition holds; the process must not end before."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupted_run_stops_at_once_and_resumes(lab: Lab, workers: str) -> None:
    whole = lab.rpx("--model", "toy-noise", runs="whole")
    assert whole.returncode == 0
    gate = lab.folder / "gate"
    gate.touch()
    slow = ("--model", "toy-noise", "--set", f"model.options.waits={json.dumps(str(gate))}")
    process = start(lab, *slow, "--workers", workers)
    wait_for(lambda: in_flight(gate), process)
    children = psutil.Process(process.pid).children(recursive=True)
    # As a terminal does: to every process of the group.
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    assert err.strip() == (
        "error: interrupted\n  hint: finished work is kept; the same command resumes"
    )
    _, alive = psutil.wait_procs(children, timeout=PATIENCE)
    assert alive == []
    gate.unlink()
    again = lab.rpx(*slow, "--workers", workers)
    assert again.returncode == 0, again.stderr
    assert lab.report()["numbers"] == lab.report("whole")["numbers"]
    assert lab.report()["status"] == lab.report("whole")["status"]


def in_flight(gate: Path) -> bool:
    """Whether some worker has come to the sample at which it waits."""
    return bool(gate.read_text())


def test_workers_end_when_their_parent_is_killed(lab: Lab) -> None:
    gate = lab.folder / "gate"
    gate.touch()
    waits = ("--set", f"model.options.waits={json.dumps(str(gate))}")
    process = start(lab, "--model", "toy-noise", *waits, "--workers", "2")
    wait_for(lambda: in_flight(gate), process)
    workers = psutil.Process(process.pid).children(recursive=True)
    assert len(workers) >= 2
    process.kill()
    process.wait(timeout=PATIENCE)
    gate.unlink()
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE)
    process.communicate()
    assert alive == []


def test_an_interrupt_while_workers_start_leaves_none_behind(lab: Lab) -> None:
    process = start(lab, "--workers", "2")
    parent = psutil.Process(process.pid)
    wait_for(parent.children, process)
    children = parent.children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in err
    _, alive = psutil.wait_procs(children, timeout=PATIENCE)
    assert alive == []
