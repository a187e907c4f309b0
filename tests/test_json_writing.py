"""Strict JSON to anyone: what is written is read back, what cannot be said is an error."""

from __future__ import annotations

import itertools
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.documents import (
    finite_or_none,
    read_json,
    to_json,
    to_pretty_json,
    write_json,
)
from rpx_core.errors import RPXError

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_what_is_written_is_read_back(value: object) -> None:
    assert read_json(to_json(value)) == value
    assert read_json(to_pretty_json(value)) == value


@given(st.dictionaries(st.text(), values, max_size=5))
def test_canonical_form_does_not_depend_on_key_order(table: dict[str, object]) -> None:
    backwards = dict(reversed(table.items()))

    assert to_json(table) == to_json(backwards)
    assert to_json(table).isascii()


def test_canonical_form_is_fixed() -> None:
    assert to_json({"b": [1, 2.5, None, True], "a": "é"}) == (
        b'{"a":"\\u00e9","b":[1,2.5,null,true]}'
    )


def test_form_for_people_keeps_order_and_letters(tmp_path: Path) -> None:
    write_json(tmp_path / "r.json", {"b": "深度", "a": 1})

    assert (tmp_path / "r.json").read_bytes() == '{\n  "b": "深度",\n  "a": 1\n}\n'.encode()


def test_name_that_is_not_unicode_is_still_written_as_json() -> None:
    name = os.fsdecode(b"\xff.png")

    assert json.loads(to_pretty_json({"name": name})) == {"name": name}
    assert json.loads(to_json({"name": name})) == {"name": name}


def test_numpy_scalars_are_the_numbers_they_hold() -> None:
    scalars = {
        "bool": np.bool_(True),
        "int": np.uint64(2**64 - 1),
        "half": np.float16(0.5),
        "single": np.float32(0.1),
        "double": np.float64(0.1),
        "long": np.longdouble(0.5),
    }

    assert json.loads(to_json(scalars)) == {
        "bool": True,
        "int": 2**64 - 1,
        "half": 0.5,
        "single": float(np.float32(0.1)),
        "double": 0.1,
        "long": 0.5,
    }


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, np.float32("nan"), np.float64("-inf"), {1, 2}, b"x", np.zeros(2), 1j],
)
def test_what_json_cannot_say_is_an_error_not_a_guess(value: object) -> None:
    for write in (to_json, to_pretty_json):
        with pytest.raises(RPXError, match="cannot be written as JSON"):
            write({"a": [value]})


def test_endless_value_is_an_error() -> None:
    loop: list[object] = []
    loop.append(loop)
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]

    for value, write in itertools.product((loop, deep), (to_json, to_pretty_json)):
        with pytest.raises(RPXError, match="cannot be written as JSON"):
            write(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.5, 1.5), (np.float32(0.5), 0.5), (3, 3.0), (None, None)]
    + [(bad, None) for bad in (math.nan, math.inf, -math.inf, np.float32("nan"))],
)
def test_undefined_numbers_become_null_only_on_request(
    value: float | None, expected: float | None
) -> None:
    result = finite_or_none(value)

    assert result == expected
    assert type(result) in (float, type(None))
