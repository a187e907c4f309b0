"""Journals whose checksums fit and whose content does not: never believed, never a crash."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from rpx_core.errors import JournalError
from rpx_core.journal import Journal, read_rows
from tests.toys.journals import RUN, Change, commit, forge, open_writer, read, written

CLOSING: Mapping[str, Change] = {
    "id a list": lambda c: c.update(id=[1]),
    "id null": lambda c: c.update(id=None),
    "id empty": lambda c: c.update(id=""),
    "id another": lambda c: c.update(id="other"),
    "failed text": lambda c: c.update(failed="x"),
    "failed negative": lambda c: c.update(failed=-1),
    "failed too many": lambda c: c.update(failed=1),
    "failed endless": lambda c: c.update(failed=10**30),
    "rows none": lambda c: c.update(rows=0),
    "rows a float": lambda c: c.update(rows=2.0),
    "states text": lambda c: c.update(states="abc"),
    "states null": lambda c: c.update(states=None),
    "states two": lambda c: c.update(states=[0, 1]),
    "states endless": lambda c: c.update(states=[0, 10**15, 0]),
    "states beyond": lambda c: c.update(states=[0, 10**30, 0]),
    "states before": lambda c: c.update(states=[-1, 1, 0]),
    "states backwards": lambda c: c.update(states=[0, -1, 0]),
    "another key": lambda c: c.update(more=1),
}


def point(*pointer: int) -> Change:
    def change(row: dict[str, Any]) -> None:
        row["metrics"]["m"]["state"] = list(pointer)

    return change


ROWS: Mapping[str, Change] = {
    "state endless": point(0, 10**15, 0),
    "state before": point(-5, 10, 0),
    "state far": point(10**19, 10, 0),
    "state backwards": point(0, -1, 0),
    "state of nothing known": point(0, 4, 1),
    "another sequence": lambda row: row.update(sequence="other"),
    "the id of the next": lambda row: row.update(id="a1"),
    "unit": lambda row: row.update(unit="bogus"),
    "phase": lambda row: row.update(phase="zz"),
    "a key of another version": lambda row: row.update(new=1),
    "a value that is text": lambda row: row["metrics"]["m"].update(values={"v": "x"}),
    "a failure uncounted": lambda row: row.update(
        failure={"stage": "load", "error": "E", "message": "m"}
    ),
}


def assert_done_again(folder: Path) -> None:
    blocks, warnings = read(folder)
    assert blocks == {}
    (warning,) = warnings
    assert warning.startswith("w.jsonl: ")
    assert "done again" in warning
    assert len(warning) < 300


@pytest.mark.parametrize("kind", CLOSING)
def test_a_forged_closing_record_is_damage(tmp_path: Path, kind: str) -> None:
    written(tmp_path, "a")
    forge(tmp_path / "w.jsonl", closing=CLOSING[kind])
    assert_done_again(tmp_path)


@pytest.mark.parametrize("kind", ROWS)
def test_a_forged_row_is_damage(tmp_path: Path, kind: str) -> None:
    written(tmp_path, "a")
    forge(tmp_path / "w.jsonl", row=ROWS[kind])
    assert_done_again(tmp_path)


def test_a_record_that_is_only_written_anew_is_believed(tmp_path: Path) -> None:
    written(tmp_path, "a")
    forge(tmp_path / "w.jsonl")
    assert set(read(tmp_path)[0]) == {"a"}


@pytest.mark.parametrize(
    "line", [b"[]\n", b"5\n", b"\n", b"[" * 100_000 + b"\n", b"1" * 5000 + b"\n", b"\xff\n"]
)
def test_a_line_that_is_no_record_costs_itself_alone(tmp_path: Path, line: bytes) -> None:
    written(tmp_path, "a")
    with (tmp_path / "w.jsonl").open("ab") as file:
        file.write(line)
    blocks, warnings = read(tmp_path)
    assert set(blocks) == {"a"}
    assert len(warnings) == 1


def test_a_line_without_an_end_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rpx_core.blocks.MAX_LINE", 5000)
    written(tmp_path, "a")
    with (tmp_path / "w.jsonl").open("ab") as file:
        file.write(b'{"kind":"row"' + b"x" * 10_000)
    blocks, (warning,) = read(tmp_path)
    assert set(blocks) == {"a"}
    assert "is no journal; it is not read" in warning


def test_the_samples_of_one_sequence_do_not_count_again_in_another(tmp_path: Path) -> None:
    written(tmp_path, "a")
    target = open_writer(tmp_path, "x")
    rows = read_rows(tmp_path, read(tmp_path)[0]["a"])
    renamed = [row.model_copy(update={"sequence": "b", "metrics": {}}) for row in rows]
    target.commit("b", renamed, [{} for _ in rows])
    target.close()
    blocks, warnings = read(tmp_path)
    assert set(blocks) == {"a"}
    assert warnings == [
        "x.jsonl: sequence b holds samples of sequence a; it is not read",
    ]


@pytest.mark.parametrize("selection", [{}, {"a": ["a0"]}, {"a": ["a0", "a1", "a2"]}, {"b": []}])
def test_what_the_run_does_not_select_is_not_read(
    tmp_path: Path, selection: dict[str, list[str]]
) -> None:
    written(tmp_path, "a")
    with Journal(tmp_path, RUN, selection) as journal:
        assert journal.blocks == {}
        assert journal.warnings == [
            "w.jsonl: sequence a holds other samples than the run; it is not read"
        ]


def test_what_the_run_selects_is_read(tmp_path: Path) -> None:
    written(tmp_path, "a")
    with Journal(tmp_path, RUN, {"a": ["a0", "a1"], "b": ["b0"]}) as journal:
        assert set(journal.blocks) == {"a"}
        assert journal.warnings == []


IRREGULAR: Mapping[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("kind", IRREGULAR)
def test_what_is_no_regular_file_is_never_waited_for(tmp_path: Path, kind: str) -> None:
    written(tmp_path, "a")
    IRREGULAR[kind](tmp_path / "x.jsonl")
    blocks, (warning,) = read(tmp_path)
    assert set(blocks) == {"a"}
    assert warning.startswith("x.jsonl: ")
    assert "a regular file was expected" in warning


@pytest.mark.parametrize("kind", IRREGULAR)
def test_states_that_are_no_regular_file_are_never_waited_for(tmp_path: Path, kind: str) -> None:
    written(tmp_path, "a")
    (tmp_path / "w.bin").unlink()
    IRREGULAR[kind](tmp_path / "w.bin")
    blocks, (warning,) = read(tmp_path)
    assert blocks == {}
    assert "a regular file was expected" in warning


def test_rows_that_became_a_pipe_are_an_error(tmp_path: Path) -> None:
    target = open_writer(tmp_path)
    block = commit(target, "a")
    target.close()
    (tmp_path / "w.jsonl").unlink()
    os.mkfifo(tmp_path / "w.jsonl")
    with pytest.raises(JournalError, match="a regular file was expected"):
        read_rows(tmp_path, block)
