"""What options a plugin part takes, as text: names, types, defaults, and what they mean."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rpx_core.documents import to_json

_LIMITS = (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="), ("multiple_of", "multiple of"))
_LENGTHS = (("min_length", "at least"), ("max_length", "at most"))


@dataclass(frozen=True)
class Option:
    """One option; `default` is as JSON has it, or None where the option must be given."""

    name: str
    type: str
    default: str | None
    description: str

    def document(self) -> dict[str, Any]:
        """The same for `--json`."""
        return {
            "name": self.name,
            "type": self.type,
            "required": self.default is None,
            "default": self.default,
            "description": self.description,
        }


@dataclass(frozen=True)
class OptionTable:
    """The options of one part, and what its author says of them together."""

    summary: str
    options: tuple[Option, ...]


def tabulate_options(kind: type[BaseModel]) -> OptionTable:
    """The options of a class, in declared order.

    An option's own description comes from `Field(description=...)`; where the class is described
    as a whole, that is the summary.
    """
    options = tuple(
        Option(field.alias or name, _type_of(field), _default(field), field.description or "")
        for name, field in kind.model_fields.items()
    )
    own = kind.__doc__ is not None and kind.__doc__ != BaseModel.__doc__
    return OptionTable(inspect.getdoc(kind) or "" if own else "", options)


def _default(field: FieldInfo) -> str | None:
    if field.is_required():
        return None
    value = field.get_default(call_default_factory=True)
    return to_json(_plain(value)).decode()


def _plain(value: Any) -> Any:
    """A default as JSON can say it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset | set):
        return sorted(map(_plain, value), key=str)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def _type_of(field: FieldInfo) -> str:
    limits = list(_limits(field.metadata))
    return ", ".join([type_text(field.annotation), *limits])


def type_text(annotation: Any) -> str:
    """A type as a person writes it: `float`, `"sum" or "mean"`, `list of int`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return ", ".join([type_text(arguments[0]), *_limits(arguments[1:])])
    if origin is Literal:
        return _one_of(arguments)
    if origin in (Union, types.UnionType):
        return " or ".join("null" if part is type(None) else type_text(part) for part in arguments)
    if origin is not None:
        return _collection_text(origin, arguments)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _one_of([member.value for member in annotation])
    return "anything" if annotation is Any else str(getattr(annotation, "__name__", annotation))


def _one_of(values: Iterable[Any]) -> str:
    return " or ".join(to_json(value).decode() for value in values)


def _collection_text(origin: Any, arguments: tuple[Any, ...]) -> str:
    parts = [type_text(part) for part in arguments if part is not Ellipsis]
    if issubclass(origin, Mapping):
        return f"table of {' to '.join(parts)}"
    if issubclass(origin, tuple) and Ellipsis not in arguments:
        return f"[{', '.join(parts)}]"
    return f"{'set' if issubclass(origin, AbstractSet) else 'list'} of {', '.join(parts)}"


def _limits(metadata: Any) -> Iterator[str]:
    for mark in metadata:
        if isinstance(mark, FieldInfo):
            yield from _limits(mark.metadata)
        for attribute, sign in _LIMITS:
            value = getattr(mark, attribute, None)
            if value is not None:
                yield f"{sign} {value}"
        for attribute, words in _LENGTHS:
            value = getattr(mark, attribute, None)
            if value is not None:
                yield f"{words} {value} long"
        pattern = getattr(mark, "pattern", None)
        if isinstance(pattern, str):
            yield f"matching {pattern}"
