"""Many samples: a worker's memory does not grow with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.toys.bench import Bench

MANY, FEW = 20_000, 200
MEBIBYTE_KB = 1024


def write_many(folder: Path, count: int) -> Path:
    """A streamed manifest of sequences of ten frames."""
    path = folder / f"{count}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"task": "toy_level"}) + "\n")
        for number in range(count):
            record = {
                "id": f"scene{number // 500:03}_{number:06}",
                "scene": f"scene{number // 500:03}",
                "sequence": f"sequence{number // 10:05}",
                "level": 1.5 + number % 7,
                "metadata": {"site": "lab"},
            }
            file.write(json.dumps(record) + "\n")
    return path


def run_many(bench: Bench, count: int, **layer: Any) -> int:
    """Peak memory in kB of the process that did the work."""
    note = bench.folder / f"peak-{count}"
    outcome = bench.run(
        model={"name": "toy-null", "options": {"peak": str(note)}},
        **layer,
        data=str(write_many(bench.folder, count)),
    )
    assert outcome.report.status.evaluated_samples == count
    return int(note.read_text())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the peak")
def test_a_worker_needs_no_more_memory_for_more_samples(bench: Bench) -> None:
    layer = {"execution": {"executor": "process"}, "metrics": {"error": "toy-error"}}
    few = run_many(bench, FEW, **layer)
    many = run_many(bench, MANY, **layer)
    assert many - few < 50 * MEBIBYTE_KB
