"""Damaged, foreign and cut-off journals: told, done again, and never believed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.errors import JournalError
from rpx_core.journal import MAX_WARNINGS, Journal, read_rows
from tests.toys.journals import RUN, Count, ends, make_writer, read, written


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The two files of a writer that committed three sequences."""
    folder = tmp_path_factory.mktemp("journal")
    written(folder, "a", "b", "c")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def put(folder: Path, content: dict[str, bytes]) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in content.items():
        (folder / name).write_bytes(data)
    return folder


def test_cut_at_any_byte_what_was_closed_before_survives(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    jsonl, _, *closed = files["w.jsonl"], *ends(files["w.jsonl"])
    for size in range(len(jsonl)):
        folder = put(tmp_path / "cut", {**files, "w.jsonl": jsonl[:size]})
        blocks, warnings = read(folder)
        assert len(blocks) == sum(end <= size for end in closed)
        assert warnings == []


def test_states_cut_at_any_byte_cost_their_own_sequences(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    states = files["w.bin"]
    each = len(states) // 3
    for size in range(len(states)):
        blocks, warnings = read(put(tmp_path / "cut", {**files, "w.bin": states[:size]}))
        assert len(blocks) == size // each
        assert len(warnings) == 3 - len(blocks)
        assert all("states of sequence" in warning for warning in warnings)


def test_without_its_states_no_block_counts(tmp_path: Path, files: dict[str, bytes]) -> None:
    blocks, warnings = read(put(tmp_path / "cut", {"w.jsonl": files["w.jsonl"]}))
    assert blocks == {}
    assert len(warnings) == 3


@given(st.data())
def test_no_flipped_bit_of_rows_goes_unseen(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], data: st.DataObject
) -> None:
    header = ends(files["w.jsonl"])[0]
    jsonl = bytearray(files["w.jsonl"])
    where = data.draw(st.integers(header, len(jsonl) - 1))
    jsonl[where] ^= 1 << data.draw(st.integers(0, 7))
    folder = put(tmp_path_factory.getbasetemp() / "flip", {**files, "w.jsonl": bytes(jsonl)})
    blocks, _ = read(folder)
    intact = [end for end in ends(files["w.jsonl"])[1:] if end <= where]
    assert {"a", "b", "c"} - blocks.keys()
    assert len(blocks) >= len(intact)
    for name, block in blocks.items():
        content = files["w.jsonl"][block.offset : block.offset + block.length]
        assert jsonl[block.offset : block.offset + block.length] == content
        assert f'"sequence":"{name}"'.encode() in content


@given(st.data())
def test_no_flipped_bit_of_states_goes_unseen(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], data: st.DataObject
) -> None:
    states = bytearray(files["w.bin"])
    where = data.draw(st.integers(0, len(states) - 1))
    states[where] ^= 1 << data.draw(st.integers(0, 7))
    folder = put(tmp_path_factory.getbasetemp() / "flip-bin", {**files, "w.bin": bytes(states)})
    blocks, warnings = read(folder)
    assert len(blocks) == 2
    assert len(warnings) == 1


@given(st.data())
def test_exchanged_lines_are_not_believed(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], data: st.DataObject
) -> None:
    header, *lines = files["w.jsonl"].splitlines(keepends=True)
    shuffled = data.draw(st.permutations(lines))
    content = header + b"".join(shuffled)
    folder = put(tmp_path_factory.getbasetemp() / "swap", {**files, "w.jsonl": content})
    blocks, _ = read(folder)
    for name, block in blocks.items():
        found = content[block.offset : block.offset + block.length]
        assert found in files["w.jsonl"]
        assert {item.id for item in read_rows(folder, block)} == {f"{name}0", f"{name}1"}


def test_a_block_that_names_another_sequence_is_not_believed(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    jsonl = files["w.jsonl"].replace(b'"id": "b"', b'"id": "a"')
    blocks, warnings = read(put(tmp_path / "forged", {**files, "w.jsonl": jsonl}))
    assert set(blocks) == {"a", "c"}
    (warning,) = warnings
    assert "are damaged; their sequence is done again" in warning


FOREIGN: dict[str, Callable[[Path], None]] = {
    "notes": lambda path: path.write_text('{"a": 1}\n' * 1000),
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 50),
    "a folder": lambda path: path.mkdir(),
    "a list": lambda path: path.write_text("[]\n"),
    "nesting": lambda path: path.write_text("[" * 100_000 + "\n"),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\n"),
    "another version": lambda path: path.write_text(
        make_writer().model_dump_json(by_alias=True).replace("rpx-journal-1", "rpx-journal-9")
        + "\n"
    ),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file_costs_one_warning(tmp_path: Path, kind: str) -> None:
    written(tmp_path, "a")
    FOREIGN[kind](tmp_path / "x.jsonl")
    blocks, warnings = read(tmp_path)
    assert set(blocks) == {"a"}
    (warning,) = warnings
    assert warning.startswith("x.jsonl: ")


@pytest.mark.parametrize("content", [b"", b"{", b'{"kind":"writer","schema":"rpx'])
def test_a_writer_killed_at_its_first_line_costs_nothing(tmp_path: Path, content: bytes) -> None:
    written(tmp_path, "a")
    (tmp_path / "x.jsonl").write_bytes(content)
    (tmp_path / "x.bin").touch()
    assert set(read(tmp_path)[0]) == {"a"}
    assert read(tmp_path)[1] == []


def test_the_journal_of_another_run_is_not_mixed_in(tmp_path: Path) -> None:
    written(tmp_path, "a", name="ours")
    written(tmp_path, "a", "b", name="another", run="f" * 64)
    blocks, warnings = read(tmp_path)
    assert {name: block.writer for name, block in blocks.items()} == {"a": "ours"}
    assert warnings == ["another.jsonl: belongs to another run (ffffffff); it is not read"]


def test_other_files_beside_the_journal_are_left_alone(tmp_path: Path) -> None:
    written(tmp_path, "a")
    (tmp_path / ".DS_Store").write_bytes(b"x")
    (tmp_path / "readme.txt").write_text("x")
    assert read(tmp_path)[1] == []


def test_many_damages_of_a_file_are_counted_not_listed(tmp_path: Path) -> None:
    written(tmp_path, *(f"s{number}" for number in range(20)))
    path = tmp_path / "w.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"rows": 2', b'"rows": 3'))
    blocks, warnings = read(tmp_path)
    assert blocks == {}
    assert len(warnings) == MAX_WARNINGS + 1
    assert warnings[-1] == f"w.jsonl: and {20 - MAX_WARNINGS} more such places"


def test_states_that_change_while_they_are_read_are_an_error(tmp_path: Path) -> None:
    written(tmp_path, "a")
    with Journal(tmp_path, RUN) as journal:
        (tmp_path / "w.bin").write_bytes(b"x" * 500)
        with pytest.raises(JournalError, match="has changed since"):
            journal.state(journal.rows()[0], "m", Count)
