"""Kills runs after so many bytes have gone to a journal, resumes them, and compares the numbers.

    python -m tests.toys.kills FOLDER serial 100

It forks from a process of its own, which has one thread. Prints one JSON object: how many runs
were killed and the offsets after which a resumed run said something else than a whole one.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rpx_core import journal_writer
from tests.toys.bench import Bench, facts
from tests.toys.lab import TOYS, toy_samples

LIMIT = "TOY_KILL_AFTER"
"""Names the number of journal bytes after which a worker kills its process group."""


@dataclass
class DyingDisk:
    """Stands for the `os` module: kills the process group in the middle of a write."""

    left: int

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, descriptor: int, data: bytes) -> int:
        count = os.write(descriptor, data[: self.left])
        self.left -= count
        if self.left == 0:
            os.killpg(os.getpgid(0), signal.SIGKILL)
        return count


def die_as_told() -> None:
    """Arrange the death that the environment asks for, in whichever process this is."""
    limit = os.environ.get(LIMIT)
    if limit is not None:
        journal_writer.os = DyingDisk(int(limit))  # type: ignore[attr-defined]  # the module is the disk


def main(folder: Path, executor: str, count: int) -> None:
    with TOYS.installed(folder / "site") as host:
        bench = Bench(folder, host)
        bench.write_set(toy_samples(scenes=3, frames=3))
        layer: dict[str, Any] = {"model": "toy-memory"}
        whole = bench.run(runs="whole", **layer)
        size = sum(path.stat().st_size for path in (whole.directory / "journal").iterdir())
        workers = 2 if executor == "process" else 1
        if workers > 1:
            # Each of two workers writes about half.
            size //= 2
        killed, different = 0, []
        for number in range(count):
            offset = 1 + number * size // count
            shutil.rmtree(folder / "killed", ignore_errors=True)
            killed += killed_run(bench, layer, workers, offset)
            resumed = bench.run(runs="killed", **layer)
            if facts(resumed.report) != facts(whole.report):
                different.append(offset)
        print(json.dumps({"killed": killed, "different": different}))


def killed_run(bench: Bench, layer: dict[str, Any], workers: int, offset: int) -> bool:
    """Start the run in a process group of its own, and see it die."""
    child = os.fork()
    if child == 0:
        os.setpgrp()
        os.environ[LIMIT] = str(offset)
        if workers == 1:
            die_as_told()
        bench.run(runs="killed", **layer, execution={"previews": 0, "workers": workers})
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
