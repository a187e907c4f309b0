"""States: exact sums, folds that do not depend on how evidence was split, and lossless bytes."""

from __future__ import annotations

import itertools
import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rpx_core.errors import JournalError, MetricError
from rpx_core.state import Cat, Max, Min, Sum, decode_state, encode_state, fold, state_fields


@dataclass(frozen=True)
class Full:
    count: Sum
    total: Sum
    low: Min
    high: Max
    scores: Cat
    names: Cat


@dataclass(frozen=True)
class Total:
    total: Sum


@dataclass(frozen=True)
class Parts:
    parts: Cat


@dataclass(frozen=True)
class Extremes:
    low: Min
    high: Max


finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e150, max_value=1e150)
words = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=4)


@st.composite
def full_states(draw: st.DrawFn) -> Full:
    size = draw(st.integers(0, 3))
    return Full(
        count=draw(st.integers(-(2**50), 2**50)),
        total=np.array([draw(finite), draw(finite)]),
        low=draw(finite),
        high=np.array([draw(finite)]),
        scores=np.array([draw(finite) for _ in range(size)], dtype=np.float64),
        names=np.array([draw(words) for _ in range(size)], dtype=np.str_),
    )


def bits(state: Any) -> dict[str, tuple[Any, ...]]:
    """Every field as it would be stored: two states are equal if these are."""
    return {
        name: (array.shape, array.tolist(), array.dtype.kind, _raw(array))
        for name in state_fields(type(state))
        for array in [np.asarray(getattr(state, name))]
    }


def _raw(array: np.ndarray[Any, Any]) -> bytes:
    return b"" if array.dtype.kind == "U" else array.tobytes()


def split(states: Sequence[Any], cuts: Sequence[int]) -> list[Sequence[Any]]:
    edges = [0, *sorted(cut % (len(states) + 1) for cut in cuts), len(states)]
    return [states[start:end] for start, end in itertools.pairwise(edges)]


@given(st.lists(full_states(), min_size=1, max_size=8), st.lists(st.integers(0, 99), max_size=4))
def test_folding_folds_agrees_with_one_flat_fold(states: list[Full], cuts: list[int]) -> None:
    flat = fold(states)
    nested = fold([part for piece in split(states, cuts) if (part := fold(piece)) is not None])
    assert flat is not None
    assert nested is not None
    for name in ("count", "low", "high", "scores", "names"):
        assert bits(flat)[name] == bits(nested)[name]
    scale = np.sum([np.abs(state.total) for state in states], axis=0)
    assert np.all(np.abs(flat.total - nested.total) <= 1e-12 * scale)


@given(st.lists(full_states(), min_size=1, max_size=8))
def test_equal_evidence_in_equal_order_folds_to_equal_bits(states: list[Full]) -> None:
    again = [decode_state(Full, encode_state(state)) for state in states]
    assert bits(fold(states)) == bits(fold(again))


@given(st.lists(full_states(), min_size=1, max_size=8), st.randoms())
def test_sums_and_extremes_do_not_depend_on_order(states: list[Full], random: Any) -> None:
    shuffled = list(states)
    random.shuffle(shuffled)
    flat, other = bits(fold(states)), bits(fold(shuffled))
    for name in ("count", "total", "low", "high"):
        assert flat[name] == other[name]


@pytest.mark.parametrize("zeros", [(0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0)])
def test_the_sign_of_zero_does_not_depend_on_order(zeros: tuple[float, float]) -> None:
    folded = fold([Extremes(low=zero, high=zero) for zero in zeros])
    assert folded is not None
    assert math.copysign(1, folded.low) == math.copysign(1, folded.high) == 1


@given(st.lists(full_states(), min_size=1, max_size=3))
def test_folding_leaves_the_states_as_they_were(states: list[Full]) -> None:
    before = [encode_state(state) for state in states]
    fold(states)
    assert [encode_state(state) for state in states] == before


def test_nothing_folds_to_nothing() -> None:
    assert fold([]) is None


def test_a_cat_keeps_the_order_of_the_fold() -> None:
    folded = fold([Parts([3, 1]), Parts([]), Parts([2])])
    assert folded is not None
    assert folded.parts.tolist() == [3, 1, 2]


def test_counts_stay_exact_beyond_the_integers_of_any_float() -> None:
    # RW-108: 2**24 + 1 in float32, 2**53 + 1 in float64.
    for start in (2**24, 2**53, 90170813, 2**62):
        folded = fold([Total(np.int64(start)), Total(np.int64(1))])
        assert folded is not None
        assert int(folded.total) == start + 1


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int8, np.uint32, np.uint64, np.int64])
def test_small_integers_add_up_without_wrapping(dtype: type) -> None:
    folded = fold([Total(np.ones(3, dtype))] * 300)
    assert folded is not None
    assert folded.total.tolist() == [300, 300, 300]


def test_unsigned_and_signed_counts_mix_exactly() -> None:
    folded = fold([Total(np.uint64(2**53 + 1)), Total(np.int64(0)), Total(True)])
    assert folded is not None
    assert int(folded.total) == 2**53 + 2


def test_half_precision_sums_do_not_overflow() -> None:
    # RW-108: float16 ends at 65504.
    folded = fold([Total(np.float16(1))] * 70000)
    assert folded is not None
    assert float(folded.total) == 70000.0


def test_float_sums_are_correctly_rounded() -> None:
    folded = fold([Total(1e16), Total(1.0), Total(-1e16), Total(1e-3)])
    assert folded is not None
    assert float(folded.total) == 1.001


@pytest.mark.parametrize("large", [2**63 - 1, np.uint64(2**63), -(2**63)])
def test_a_count_that_does_not_fit_is_an_error_not_a_wrapped_number(large: Any) -> None:
    with pytest.raises(MetricError, match=r"Total\.total: the sum does not fit in 64 bits"):
        fold([Total(large), Total(large)])


def test_a_sum_beyond_the_largest_float_is_an_error() -> None:
    with pytest.raises(MetricError, match=r"Total\.total: the sum is beyond the largest float"):
        fold([Total(1e308), Total(1e308)])


def test_sums_of_different_shapes_are_an_error_that_names_them() -> None:
    with pytest.raises(MetricError, match=r"Total.total: shapes differ .*\(2,\), \(3,\)"):
        fold([Total(np.zeros(2)), Total(np.zeros(3))])


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([np.zeros((1, 2)), np.zeros((1, 3))], "shapes differ beyond the first axis"),
        ([np.float64(1), np.float64(2)], "is a scalar"),
    ],
)
def test_a_cat_of_what_does_not_join_is_an_error(parts: list[Any], says: str) -> None:
    with pytest.raises(MetricError, match=says):
        fold([Parts(part) for part in parts])


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (Total(math.nan), "Total.total is NaN"),
        (Total(np.array([1.0, math.nan], np.float16)), "Total.total is NaN"),
        (Total(math.inf), "Total.total is infinite"),
        (Total(np.array([[0.0, -math.inf]])), "Total.total is infinite"),
        (Extremes(math.nan, 0.0), "Extremes.low is NaN"),
        (Parts([math.nan]), "Parts.parts is NaN"),
        (Total("text"), "Total.total is text, which can only be Cat"),
        (Total(1j), "dtype complex128; numbers or text expected"),
        (Total(None), "dtype object"),
        (Parts([b"bytes"]), "dtype .S5"),
        (Total(2**70), "dtype object"),
    ],
)
def test_what_no_number_may_stand_on_is_refused(state: Any, says: str) -> None:
    with pytest.raises(MetricError, match=says):
        encode_state(state)


def test_infinite_extremes_and_parts_are_allowed() -> None:
    state = decode_state(Extremes, encode_state(Extremes(-math.inf, math.inf)))
    assert (float(state.low), float(state.high)) == (-math.inf, math.inf)


def test_a_field_must_say_how_it_combines() -> None:
    @dataclass(frozen=True)
    class Silent:
        total: float

    with pytest.raises(MetricError, match="Silent: field total does not say how it combines"):
        state_fields(Silent)


def test_a_state_must_be_frozen() -> None:
    @dataclass
    class Loose:
        total: Sum

    with pytest.raises(MetricError, match="Loose must be a frozen dataclass"):
        state_fields(Loose)


arrays = hnp.arrays(
    dtype=st.one_of(
        hnp.boolean_dtypes(),
        hnp.integer_dtypes(endianness="?"),
        hnp.unsigned_integer_dtypes(endianness="?"),
        hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
        hnp.unicode_string_dtypes(endianness="?", max_len=5),
    ),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
).filter(lambda array: array.dtype.kind != "f" or not np.isnan(array).any())


@given(arrays)
def test_bytes_keep_every_dtype_and_shape(array: np.ndarray[Any, Any]) -> None:
    back = decode_state(Parts, encode_state(Parts(array))).parts
    assert back.shape == array.shape
    assert back.dtype == array.dtype.newbyteorder("<")
    assert back.tolist() == array.tolist()


def test_arrays_of_any_memory_layout_are_stored_in_the_order_of_their_indices() -> None:
    array = np.arange(12).reshape(3, 4)[::-1, ::2]
    assert decode_state(Parts, encode_state(Parts(array))).parts.tolist() == array.tolist()


@given(st.binary(max_size=200))
def test_any_bytes_are_a_state_or_a_journal_error(data: bytes) -> None:
    with pytest.raises(JournalError):
        decode_state(Full, data)


@given(full_states(), st.data())
def test_a_damaged_state_is_a_state_or_a_journal_error(state: Full, data: st.DataObject) -> None:
    stored = bytearray(encode_state(state))
    where = data.draw(st.integers(0, len(stored) - 1))
    match data.draw(st.sampled_from(["flip", "cut", "insert"])):
        case "flip":
            stored[where] ^= data.draw(st.integers(1, 255))
        case "cut":
            del stored[where:]
        case "insert":
            stored[where:where] = data.draw(st.binary(min_size=1, max_size=8))
    try:
        decoded = decode_state(Full, bytes(stored))
    except JournalError:
        return
    assert bits(decoded).keys() == bits(state).keys()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
header_fields = st.tuples(
    st.sampled_from(["parts", "", 1, None]) | json_values,
    st.sampled_from(["<f8", "<U2", "|b1", "<i8", "<f16", "|O", "<U0", "f8,f8", "(2,)f4"])
    | json_values,
    st.lists(st.integers(-2, 2**66), max_size=3) | json_values,
)


@given(st.lists(header_fields, max_size=3) | json_values, st.binary(max_size=40))
def test_any_header_is_a_state_or_a_journal_error(header: Any, rest: bytes) -> None:
    head = json.dumps(header).encode()
    try:
        decoded = decode_state(Parts, struct.pack("<I", len(head)) + head + rest)
    except JournalError:
        return
    assert np.asarray(decoded.parts).dtype.kind in "biufU"


def test_a_header_that_nests_without_end_is_a_journal_error() -> None:
    head = b"[" * 200_000
    with pytest.raises(JournalError, match="damaged"):
        decode_state(Parts, struct.pack("<I", len(head)) + head)


def test_text_that_is_no_text_is_a_journal_error() -> None:
    stored = encode_state(Parts(np.array(["a"])))
    with pytest.raises(JournalError, match="not text"):
        decode_state(Parts, stored[:-4] + b"\xff\xff\xff\xff")


def test_a_state_of_another_version_says_what_to_do() -> None:
    with pytest.raises(JournalError, match="fields total, but Parts has parts") as caught:
        decode_state(Parts, encode_state(Total(1)))
    assert caught.value.hint is not None
    assert "--fresh" in caught.value.hint
