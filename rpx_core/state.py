"""Metric states: small values whose fields declare how they combine, and their fold.

A state is a frozen dataclass whose fields are annotated `Sum`, `Cat`, `Min` or `Max`. There is
no mean: store the total and the count. Nothing is updated in place; many states become one by
`fold`, whatever process, shard or day each came from.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import JournalError, MetricError

S = TypeVar("S")
Array = NDArray[Any]

_Field = tuple[str, str, tuple[int, ...]]
"""Name, dtype and shape of one stored array."""
_KINDS = "biufU"
_DTYPE = re.compile(r"[<|](?:b1|[iuf](?:1|2|4|8|16)|U\d{1,9})")
_MAX_HEADER = 1 << 20
_LAST_CHARACTER = 0x10FFFF
_INT64 = np.iinfo(np.int64)


class Combine(Enum):
    """How a field of several states becomes one."""

    SUM = "sum"
    CAT = "cat"
    MIN = "min"
    MAX = "max"


Sum = Annotated[Any, Combine.SUM]
"""Added. Integers exactly in 64 bits; floats correctly rounded, so order does not matter."""
Cat = Annotated[Any, Combine.CAT]
"""Joined along the first axis, in the order of the fold."""
Min = Annotated[Any, Combine.MIN]
Max = Annotated[Any, Combine.MAX]


def fold(states: Sequence[S]) -> S | None:
    """Combine states field by field, in the order given; equal inputs give equal bits.

    No states give None: the value of an empty set is undefined, not zero.
    """
    if not states:
        return None
    kind = type(states[0])
    combined: dict[str, Array] = {}
    for name, combine in state_fields(kind).items():
        values = [np.asarray(getattr(state, name)) for state in states]
        combined[name] = _COMBINERS[combine](values, f"{kind.__qualname__}.{name}")
    return kind(**combined)


def state_fields(kind: type) -> Mapping[str, Combine]:
    """The fields of a state class and how each combines; raises MetricError when one is silent."""
    return _read_fields(kind)


@lru_cache(maxsize=256)
def _read_fields(kind: Any) -> Mapping[str, Combine]:
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        raise MetricError(f"state {kind.__qualname__} must be a frozen dataclass")
    hints = get_type_hints(kind, include_extras=True)
    combines: dict[str, Combine] = {}
    for field in fields(kind):
        declared = [
            mark
            for mark in getattr(hints[field.name], "__metadata__", ())
            if isinstance(mark, Combine)
        ]
        if len(declared) != 1:
            raise MetricError(
                f"state {kind.__qualname__}: field {field.name} does not say how it combines",
                hint="annotate it as Sum, Cat, Min or Max from rpx_core.state",
            )
        combines[field.name] = declared[0]
    return combines


def encode_state(state: object) -> bytes:
    """Bytes of one state; raises MetricError for NaN, an infinite sum, or a non-numeric field."""
    fields_of: list[_Field] = []
    blobs: list[bytes] = []
    for name, combine in state_fields(type(state)).items():
        array = np.asarray(getattr(state, name))
        _check(array, combine, name, type(state))
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        fields_of.append((name, array.dtype.str, array.shape))
        blobs.append(array.tobytes())
    return _write_header(tuple(fields_of)) + b"".join(blobs)


def decode_state(kind: type[S], data: bytes | memoryview) -> S:
    """The state that `encode_state` wrote; raises JournalError when the bytes are not that."""
    try:
        values = _decode_fields(memoryview(data))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise JournalError(f"a stored state of {kind.__qualname__} is damaged: {error}") from error
    if list(values) != list(state_fields(kind)):
        raise JournalError(
            f"a stored state has fields {', '.join(map(str, values))}, but {kind.__qualname__} has "
            f"{', '.join(state_fields(kind))}",
            hint="the metric changed without a new version; run again with --fresh",
        )
    return kind(**values)


def _decode_fields(data: memoryview) -> dict[str, Array]:
    length = int.from_bytes(data[:4], "little")
    if length > _MAX_HEADER:
        raise ValueError("header too long")
    offset = 4 + length
    values: dict[str, Array] = {}
    for name, dtype_name, shape in _read_header(bytes(data[4:offset])):
        dtype = np.dtype(dtype_name)
        count = math.prod(shape)
        size = count * dtype.itemsize
        if offset + size > len(data):
            raise ValueError("cut short")
        array = np.frombuffer(data[offset : offset + size], dtype=dtype, count=count)
        if dtype.kind == "U" and count and array.view("<u4").max() > _LAST_CHARACTER:
            raise ValueError("not text")
        values[name] = array.reshape(shape)
        offset += size
    if offset != len(data):
        raise ValueError("too long")
    return values


# States of one metric mostly have one layout.
@lru_cache(maxsize=256)
def _write_header(fields_of: tuple[_Field, ...]) -> bytes:
    head = json.dumps(fields_of, separators=(",", ":")).encode()
    return len(head).to_bytes(4, "little") + head


@lru_cache(maxsize=256)
def _read_header(header: bytes) -> tuple[_Field, ...]:
    found: list[_Field] = []
    for name, dtype, shape in json.loads(header):
        if not _DTYPE.fullmatch(dtype):
            raise ValueError(f"dtype {dtype}")
        if any(type(length) is not int or length < 0 for length in shape):
            raise ValueError(f"shape {shape}")
        found.append((name, dtype, tuple(shape)))
    return tuple(found)


def _check(array: Array, combine: Combine, name: str, kind: type) -> None:
    if array.dtype.kind == "i" and array.ndim == 0:
        return
    where = f"{kind.__qualname__}.{name}"
    if array.dtype.kind not in _KINDS:
        raise MetricError(f"state field {where} has dtype {array.dtype}; numbers or text expected")
    if array.dtype.kind == "U" and combine is not Combine.CAT:
        raise MetricError(f"state field {where} is text, which can only be Cat")
    if array.dtype.kind != "f":
        return
    if np.isnan(array).any():
        raise MetricError(
            f"state field {where} is NaN",
            hint="return None from measure() when a value is undefined; mask invalid input first",
        )
    if combine is Combine.SUM and not np.isfinite(array).all():
        raise MetricError(f"state field {where} is infinite; a sum must stay finite")


def _sum(values: Sequence[Array], where: str) -> Array:
    _check_shapes(values, where)
    if all(value.dtype.kind in "biu" for value in values):
        return _sum_integers(values, where)
    columns = np.stack(values).reshape(len(values), -1).astype(np.float64).T
    try:
        # fsum is correctly rounded: the same bits for any order of the same values.
        totals = np.array([math.fsum(column) for column in columns.tolist()], dtype=np.float64)
    except OverflowError as error:
        raise MetricError(f"state field {where}: the sum is beyond the largest float") from error
    return totals.reshape(values[0].shape)


def _sum_integers(values: Sequence[Array], where: str) -> Array:
    stacked = np.stack(values)
    if stacked.dtype.kind != "b" and stacked.size:
        bound = np.abs(stacked.astype(np.float64)).sum(axis=0).max()
        # Numpy wraps silently. Mixed signs stack as float64, which would round.
        if bound >= _INT64.max:
            raise MetricError(f"state field {where}: the sum does not fit in 64 bits")
        stacked = np.stack([value.astype(np.int64) for value in values])
    return np.asarray(stacked.sum(axis=0, dtype=np.int64))


def _cat(values: Sequence[Array], where: str) -> Array:
    if any(value.ndim == 0 for value in values):
        raise MetricError(f"state field {where} is a scalar; Cat joins arrays along axis 0")
    if len({value.shape[1:] for value in values}) > 1:
        raise MetricError(f"state field {where}: shapes differ beyond the first axis")
    return np.concatenate(values, axis=0)


def _min(values: Sequence[Array], where: str) -> Array:
    _check_shapes(values, where)
    return _unsigned_zero(np.min(np.stack(values), axis=0))


def _max(values: Sequence[Array], where: str) -> Array:
    _check_shapes(values, where)
    return _unsigned_zero(np.max(np.stack(values), axis=0))


def _unsigned_zero(extremes: Any) -> Array:
    # Of 0.0 and -0.0 numpy returns whichever comes first.
    array = np.asarray(extremes)
    return np.asarray(array + array.dtype.type(0)) if array.dtype.kind == "f" else array


def _check_shapes(values: Sequence[Array], where: str) -> None:
    shapes = {value.shape for value in values}
    if len(shapes) > 1:
        raise MetricError(f"state field {where}: shapes differ between samples: {sorted(shapes)}")


_COMBINERS: Mapping[Combine, Callable[[Sequence[Array], str], Array]] = {
    Combine.SUM: _sum,
    Combine.CAT: _cat,
    Combine.MIN: _min,
    Combine.MAX: _max,
}
