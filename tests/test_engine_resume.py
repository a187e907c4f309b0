"""The journal of a finished run, damaged in every way: the same command finds the same numbers."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.toys.bench import Bench, copy_run, facts
from tests.toys.journals import ends


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, toy_host: Any) -> tuple[Bench, Path, Any]:
    bench = Bench(tmp_path_factory.mktemp("finished"), toy_host)
    bench.write_set()
    outcome = bench.run()
    return bench, outcome.directory, facts(outcome.report)


def damaged(finished: tuple[Bench, Path, Any], label: str) -> Path:
    """The folder of a fresh copy of the finished run's journal."""
    bench, directory, _ = finished
    runs = bench.folder / label
    shutil.rmtree(runs, ignore_errors=True)
    copy_run(directory, runs / directory.name)
    return runs / directory.name / "journal"


def test_truncated_at_a_hundred_places_a_run_resumes_to_the_same_bits(
    finished: tuple[Bench, Path, Any],
) -> None:
    bench, directory, whole = finished
    (rows,) = (directory / "journal").glob("*.jsonl")
    size, closed = rows.stat().st_size, ends(rows.read_bytes())
    near = {end + step for end in closed for step in (-2, -1, 0, 1, 2)}
    places = sorted({*range(0, size, size // 60), *near} & set(range(size)))
    assert len(places) >= 100
    for place in places:
        journal = damaged(finished, "cut")
        with (journal / rows.name).open("r+b") as file:
            file.truncate(place)
        assert facts(bench.run(runs="cut").report) == whole


def test_after_a_power_failure_a_run_resumes_to_the_same_numbers(
    finished: tuple[Bench, Path, Any],
) -> None:
    # The rows reached the disk, their states did not: shorter, or long enough but never written.
    bench, directory, whole = finished
    (states,) = (directory / "journal").glob("*.bin")
    size = states.stat().st_size
    for kept in range(0, size, size // 25):
        for filler in (b"", b"\0" * (size - kept)):
            journal = damaged(finished, "power")
            (journal / states.name).write_bytes(states.read_bytes()[:kept] + filler)
            report = bench.run(runs="power").report
            assert facts(report, "warnings") == {k: v for k, v in whole.items() if k != "warnings"}
            assert report.warnings


def test_garbage_in_the_journal_never_makes_a_wrong_number(
    finished: tuple[Bench, Path, Any],
) -> None:
    bench, directory, whole = finished
    (rows,) = (directory / "journal").glob("*.jsonl")
    content = rows.read_bytes()
    lines = content.splitlines(keepends=True)
    ruined = {
        "a line is lost": b"".join(lines[:5] + lines[6:]),
        "a line is doubled": b"".join([*lines[:5], lines[4], *lines[5:]]),
        "a line is garbage": b"".join([*lines[:5], b"#!?\n", *lines[6:]]),
        "bytes are swapped": content[:900] + content[901:902] + content[900:901] + content[902:],
        "two lines are one": b"".join([*lines[:5], lines[5][:-1], *lines[6:]]),
        "the first line is lost": b"".join(lines[1:]),
        "windows line ends": content.replace(b"\n", b"\r\n"),
        "empty": b"",
    }
    for damage, data in ruined.items():
        journal = damaged(finished, "ruined")
        (journal / rows.name).write_bytes(data)
        report = bench.run(runs="ruined").report
        assert facts(report, "warnings")["numbers"] == whole["numbers"], damage
        assert report.status.complete


def test_a_journal_without_its_states_is_redone(finished: tuple[Bench, Path, Any]) -> None:
    bench, _, whole = finished
    journal = damaged(finished, "stateless")
    next(journal.glob("*.bin")).unlink()
    report = bench.run(runs="stateless").report
    assert facts(report)["numbers"] == whole["numbers"]
    assert len(report.writers) == 2
