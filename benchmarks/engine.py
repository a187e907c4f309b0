"""What the engine itself costs: 20,000 samples of a model that does nothing.

    python benchmarks/engine.py [--samples 20000] [--workers 1]

Runs the real command on a generated set with the toy task of the tests, then runs it again, which
only folds the journal and writes the reports. Prints the processor time of both, per sample.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.test_engine_scale import write_many
from tests.toys.lab import open_lab


def main() -> None:
    """Time a first and a second run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lab = open_lab(Path(folder))
        data = write_many(lab.folder, arguments.samples)
        flags = ("--data", str(data), "--model", "toy-null", "--workers", str(arguments.workers))
        for what in ("run, fold and report", "fold and report"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                lab.command(*flags, "--quiet"), cwd=lab.folder, env=lab.environment, check=True
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            each = spent / arguments.samples * 1e6
            print(f"{what:22} {spent:6.2f} s of processor time, {each:6.1f} us per sample")


if __name__ == "__main__":
    main()
