"""The command line as a user runs it, and the numbers that it prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def rpx(folder: Path, *arguments: str, expect: int = 0) -> dict[str, Any]:
    """What a command prints under `--json`; it must end with the exit code expected."""
    done = subprocess.run(
        [sys.executable, "-m", "rpx_core.cli", *arguments, "--json"],
        cwd=folder,
        env={**os.environ, "RPX_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == expect, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def numbers(outcome: dict[str, Any]) -> dict[str, float | None]:
    """The numbers of the only run, by address."""
    (run,) = outcome["runs"]
    return {number["address"]: number["value"] for number in run["numbers"]}


def captions(folder: Path) -> list[list[str]]:
    """Captions of the pictures that runs below a folder kept, sample by sample."""
    found = sorted(folder.glob("**/previews/*/pictures.json"))
    return [[picture["caption"] for picture in json.loads(path.read_bytes())] for path in found]
