"""Runs `rpx`, or imports it, in a fresh interpreter, and says how long that took."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONSOLE_SCRIPT = """
import sys
sys.argv[0] = "rpx"
from rpx_core.cli import main
sys.exit(main())
"""
# Not `-X importtime`: it does not see what importlib.import_module imports, plugins above all.
LIST_MODULES = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, sep="\\n", file=open({file!r}, "w")))
"""
TIME_IMPORT = """
import time
started = time.perf_counter()
import rpx_core
print(time.perf_counter() - started)
"""
ATTEMPTS = 15


@dataclass(frozen=True)
class Command:
    """One command line of `rpx` that sees the plugins of a folder."""

    site: Path
    arguments: tuple[str, ...]

    def run(self, *, before: str = "", expected: int = 0) -> subprocess.CompletedProcess[str]:
        """Run it once, after some Python code `before`, and insist on its exit code."""
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(self.site), str(ROOT)]),
            "PYTHONUTF8": "1",
        }
        result = subprocess.run(
            [sys.executable, "-c", before + CONSOLE_SCRIPT, *self.arguments],
            env=environment,
            cwd=self.site,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if result.returncode != expected:
            raise AssertionError(f"exit {result.returncode}:\n{result.stdout}{result.stderr}")
        return result

    def imported(self) -> set[str]:
        """The modules that are loaded when the command ends."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "modules")
            self.run(before=LIST_MODULES.format(file=str(file)))
            return set(file.read_text(encoding="utf-8").splitlines())

    def best_seconds(self, budget: float) -> float:
        """See `best_of`; of the whole command, with its interpreter."""

        def seconds() -> float:
            started = time.perf_counter()
            self.run()
            return time.perf_counter() - started

        return best_of(seconds, budget)


def import_seconds(budget: float) -> float:
    """See `best_of`; of `import rpx_core` alone, in an interpreter that is there already."""
    command = [sys.executable, "-c", TIME_IMPORT]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def seconds() -> float:
        return float(subprocess.check_output(command, env=environment, text=True, timeout=60))

    return best_of(seconds, budget)


def best_of(seconds: Callable[[], float], budget: float) -> float:
    """The shortest of several measurements; stops at the first within the budget.

    The shortest, because on a busy machine every other one measures the neighbours.
    """
    best = float("inf")
    for _ in range(ATTEMPTS):
        best = min(best, seconds())
        if best < budget:
            break
    return best
