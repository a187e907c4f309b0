"""A run is resumed only on the data that it was measured from."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from rpx_core.errors import DatasetError, ExitCode
from rpx_core.run import Request
from tests.toys.bench import QUIET, Bench, facts


@pytest.fixture
def folder(bench: Bench) -> Path:
    """The folder of a dataset whose levels lie in files."""
    return lay_out(bench, "toy_level")


def lay_out(bench: Bench, task: str) -> Path:
    samples = [
        {"id": f"a_clean_{n}", "scene": "a", "phase": "clean", "level": f"{n}.txt"}
        for n in range(4)
    ]
    for number in range(4):
        (bench.folder / f"{number}.txt").write_text(str(10.0 + number))
    bench.write_set(samples, task=task)
    return bench.folder


def test_a_file_that_changed_under_a_finished_run_is_named(bench: Bench, folder: Path) -> None:
    bench.run()
    (folder / "2.txt").write_text("99.0")
    with pytest.raises(DatasetError, match=re.escape("2.txt changed")) as caught:
        bench.run()
    assert "a_clean_2" in caught.value.message
    assert "--fresh" in str(caught.value)
    assert caught.value.exit_code == ExitCode.USAGE


def test_the_bytes_count_and_not_their_number_or_time(bench: Bench, folder: Path) -> None:
    whole = facts(bench.run().report)
    os.utime(folder / "2.txt", (0, 0))
    assert facts(bench.run().report) == whole
    (folder / "2.txt").write_text("12.5")
    with pytest.raises(DatasetError, match=re.escape("2.txt changed")):
        bench.run()


def test_fresh_measures_the_new_data(bench: Bench, folder: Path) -> None:
    bench.run()
    (folder / "2.txt").write_text("99.0")
    after = bench.run(Request(fresh=True, reporters=()))
    assert after.samples_done == 4
    assert facts(bench.run().report) == facts(after.report)


def test_a_finished_run_is_folded_again_without_its_data(bench: Bench, folder: Path) -> None:
    whole = facts(bench.run().report)
    for file in folder.glob("*.txt"):
        file.unlink()
    assert facts(bench.run().report) == whole


def test_data_that_a_task_reads_to_make_its_samples_is_part_of_the_run(bench: Bench) -> None:
    folder = lay_out(bench, "toy_step")
    before = bench.run(QUIET, task="toy_step")
    (folder / "2.txt").write_text("99.0")
    after = bench.run(QUIET, task="toy_step")
    assert after.report.run.identity != before.report.run.identity


def test_frames_of_several_phases_make_a_sequence_of_none(bench: Bench) -> None:
    samples = [
        {
            "id": f"a_{phase}_{number}",
            "scene": "a",
            "sequence": "tour",
            "phase": phase,
            "frame": number,
            "level": 1.0,
            "metadata": {"room": "hall", "hour": number},
        }
        for number, phase in enumerate(["clutter", "clutter", "clean"])
    ]
    bench.write_set(samples)
    rows = bench.run().results.rows
    (tour,) = [row for row in rows if row.unit == "sequence"]
    assert (tour.scene, tour.phase, tour.tags) == ("a", None, {"room": "hall"})
    assert [row.phase for row in rows if row.unit == "pair"] == ["clutter", None]
