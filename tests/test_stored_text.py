"""What may be of any length or no text at all is stored so that it can be read again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.contracts import Unit
from rpx_core.errors import JournalError
from rpx_core.guard import guarded
from rpx_core.journal import Journal
from rpx_core.journal_writer import JournalWriter
from rpx_core.report import Failure, Measured, Row
from rpx_core.stored_text import (
    MAX_KEYS,
    MAX_NAME,
    MAX_PROSE,
    is_name,
    storable,
    storable_mapping,
    storable_name,
)
from rpx_core.writers import introduce_writer
from tests.toys.journals import RUN, commit, make_writer

anything = st.text(st.characters(), max_size=30) | st.builds(
    lambda text, times: text * times,
    st.text(st.characters(), min_size=1, max_size=4),
    st.integers(1, 2000),
)
encodable = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
names = st.dictionaries(anything, anything, max_size=6)
finite = st.floats(allow_nan=False, allow_infinity=False)


@given(anything, st.integers(2, 300))
def test_a_stored_text_is_short_and_can_be_encoded(text: str, limit: int) -> None:
    stored = storable(text, limit)
    assert len(stored) <= limit
    assert stored.encode().decode() == stored
    assert storable(stored, limit) == stored


@given(encodable)
def test_a_short_text_is_stored_as_it_is(text: str) -> None:
    assert storable(text) == text


@given(anything)
def test_a_stored_name_is_a_name_and_a_name_is_stored_as_it_is(text: str) -> None:
    stored = storable_name(text)
    assert is_name(stored)
    assert storable_name(stored) == stored
    assert stored == text or not is_name(text)


def test_a_cut_text_says_so() -> None:
    assert storable("x" * 10**7, 10) == "xxxxxxxxx…"
    many = storable_mapping({f"k{number:03}": "v" for number in range(100)})
    assert len(many) == MAX_KEYS
    assert many["…"] == "37 more are not kept"


@given(names)
def test_a_description_keeps_its_bounds(texts: Mapping[str, str]) -> None:
    stored = storable_mapping(texts)
    assert storable_mapping(stored) == stored
    assert len(stored) <= MAX_KEYS
    assert all(len(key) <= MAX_NAME and len(text) <= MAX_PROSE for key, text in stored.items())


@pytest.mark.parametrize(
    "description",
    [
        {"a": "x" * 2_000_000},
        {"x" * 2_000_000: "a"},
        {f"key {number}": "\0" * 2000 for number in range(10_000)},
        {"a": "\ud800", "\udfff": "b"},
    ],
)
def test_whatever_a_model_says_of_itself_its_work_can_be_read(
    tmp_path: Path, description: dict[str, str]
) -> None:
    writer = introduce_writer(RUN, device="cuda:" + "0" * 10_000, model=description)
    target = JournalWriter(tmp_path, writer)
    commit(target, "a")
    target.close()
    with Journal(tmp_path, RUN) as journal:
        assert journal.warnings == []
        assert journal.writers == [writer]
        assert set(journal.blocks) == {"a"}


failures = st.builds(
    Failure,
    stage=st.sampled_from(["load", "measure"]),
    error=anything,
    message=anything,
    hint=st.none() | anything,
    where=st.none() | anything,
)
rows = st.builds(
    Row,
    unit=st.sampled_from([Unit.SAMPLE, Unit.PAIR, Unit.SEQUENCE]),
    id=encodable,
    sequence=st.just("s"),
    frame=st.none() | st.integers(-(10**20), 10**20),
    scene=st.none() | encodable,
    tags=st.dictionaries(anything, encodable | st.booleans() | st.integers() | finite, max_size=4),
    alignment=st.dictionaries(anything, finite, max_size=4),
    note=st.none() | anything,
    metrics=st.dictionaries(
        encodable,
        st.builds(
            Measured,
            values=st.dictionaries(encodable, st.none() | finite, max_size=3),
            reason=st.none() | anything,
        ),
        max_size=2,
    ),
    failure=st.none() | failures,
)


@given(st.lists(rows, min_size=1, max_size=4, unique_by=lambda row: (row.unit, row.id)))
def test_whatever_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, written: list[Row]
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    target = JournalWriter(folder, make_writer())
    target.commit("s", written, [{} for _ in written])
    target.close()
    with Journal(folder, RUN) as journal:
        assert journal.warnings == []
        found = {(stored.row.unit, stored.row.id): stored.row for stored in journal.rows()}
    assert found == {(row.unit, row.id): row for row in written}


def test_a_row_that_could_not_be_read_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = JournalWriter(tmp_path, make_writer())
    monkeypatch.setattr("rpx_core.journal_writer.MAX_LINE", 2**20)
    values = {f"output {number}": 0.5 for number in range(100_000)}
    row = Row(unit=Unit.SAMPLE, id="x", sequence="s", metrics={"m": Measured(values=values)})
    with pytest.raises(JournalError, match=r"the row of sample x takes .* at most 1 MiB"):
        target.commit("s", [row], [{}])
    commit(target, "after")
    target.close()
    with Journal(tmp_path, RUN) as journal:
        assert set(journal.blocks) == {"after"}


def test_an_error_with_an_endless_name_is_a_failure() -> None:
    kind = type("E" * 5_000_000, (Exception,), {})

    def work() -> None:
        raise kind("y" * 10_000_000)

    failure = guarded("predict", work)
    assert isinstance(failure, Failure)
    assert failure.error.startswith("E")
    assert len(failure.model_dump_json()) < 5000
