"""Metric states: small values whose fields declare how they combine, and their fold.

A state is a frozen dataclass whose fields are annotated `Sum`, `Cat`, `Min` or `Max`. There is
no mean: store the total and the count. Nothing is updated in place; many states become one by
`fold`, whatever process, shard or day each came from.
"""

from __future__ import annotations

import json
import math
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

_KINDS = "biufU"
_MAX_HEADER = 1 << 20


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
    header: list[list[Any]] = []
    blobs: list[bytes] = []
    for name, combine in state_fields(type(state)).items():
        array = np.asarray(getattr(state, name))
        _check(array, combine, f"{type(state).__qualname__}.{name}")
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        header.append([name, array.dtype.str, list(array.shape)])
        blobs.append(array.tobytes())
    head = json.dumps(header, separators=(",", ":")).encode()
    return len(head).to_bytes(4, "little") + head + b"".join(blobs)


def decode_state(kind: type[S], data: bytes | memoryview) -> S:
    """The state that `encode_state` wrote; raises JournalError when the bytes are not that."""
    try:
        values = _decode_fields(memoryview(data))
    except (ValueError, TypeError, IndexError, KeyError) as error:
        raise JournalError(f"a stored state of {kind.__qualname__} is damaged: {error}") from error
    if list(values) != list(state_fields(kind)):
        raise JournalError(
            f"a stored state has fields {', '.join(values)}, but {kind.__qualname__} has "
            f"{', '.join(state_fields(kind))}",
            hint="the metric changed without a new version; run again with --fresh",
        )
    return kind(**values)


def _decode_fields(data: memoryview) -> dict[str, Array]:
    length = int.from_bytes(data[:4], "little")
    if length > _MAX_HEADER:
        raise ValueError("header too long")
    header = json.loads(bytes(data[4 : 4 + length]))
    offset = 4 + length
    values: dict[str, Array] = {}
    for name, dtype_name, shape in header:
        dtype = np.dtype(dtype_name)
        if dtype.kind not in _KINDS:
            raise ValueError(f"dtype {dtype_name}")
        count = math.prod(shape)
        size = count * dtype.itemsize
        if count < 0 or offset + size > len(data):
            raise ValueError("cut short")
        array = np.frombuffer(data[offset : offset + size], dtype=dtype, count=count)
        values[name] = array.reshape(shape)
        offset += size
    if offset != len(data):
        raise ValueError("too long")
    return values


def _check(array: Array, combine: Combine, where: str) -> None:
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
    stacked = np.stack(values)
    if stacked.dtype.kind in "biu":
        return np.asarray(stacked.sum(axis=0, dtype=np.int64))
    columns = stacked.reshape(len(values), -1).astype(np.float64).T
    # fsum is correctly rounded: the same bits for any order of the same values.
    totals = np.array([math.fsum(column) for column in columns.tolist()], dtype=np.float64)
    return totals.reshape(stacked.shape[1:])


def _cat(values: Sequence[Array], where: str) -> Array:
    if any(value.ndim == 0 for value in values):
        raise MetricError(f"state field {where} is a scalar; Cat joins arrays along axis 0")
    if len({value.shape[1:] for value in values}) > 1:
        raise MetricError(f"state field {where}: shapes differ beyond the first axis")
    return np.concatenate(values, axis=0)


def _min(values: Sequence[Array], where: str) -> Array:
    _check_shapes(values, where)
    return np.asarray(np.min(np.stack(values), axis=0))


def _max(values: Sequence[Array], where: str) -> Array:
    _check_shapes(values, where)
    return np.asarray(np.max(np.stack(values), axis=0))


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
