"""Killed at any byte of its journal, a run resumes to the bits of one that was never killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def kill_and_resume(folder: Path, executor: str, count: int) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.toys.kills", str(folder), executor, str(count)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_a_serial_run_killed_at_a_hundred_bytes(tmp_path: Path) -> None:
    assert kill_and_resume(tmp_path, "serial", 100) == {"killed": 100, "different": []}


def test_a_run_of_two_workers_killed_at_some_bytes(tmp_path: Path) -> None:
    found = kill_and_resume(tmp_path, "process", 12)
    assert found["different"] == []
    assert found["killed"] >= 10


@pytest.mark.slow
def test_a_run_of_two_workers_killed_at_a_hundred_bytes(tmp_path: Path) -> None:
    found = kill_and_resume(tmp_path, "process", 100)
    assert found["different"] == []
    assert found["killed"] >= 70
