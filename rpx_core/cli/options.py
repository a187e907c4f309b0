"""The options of what a plugin offers, as `rpx list KIND NAME` shows them."""

from __future__ import annotations

import inspect
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rpx_core.errors import PluginError
from rpx_core.host import Offer, load_target

_WORDS: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Path: "path",
    NoneType: "nothing",
    Any: "anything",
}


def describe_options(offer: Offer[Any]) -> dict[str, Any] | None:
    """What the options class of an offer says of itself and of each field; None without one.

    Raises PluginError when its module cannot be imported.
    """
    target: str | None = getattr(offer.spec, "options", None)
    if target is None:
        return None
    kind = load_target(target, wanted_by=offer.full_name)
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        raise PluginError(f"{offer.full_name}: options {target} is not a pydantic model")
    return {
        "about": inspect.getdoc(kind) or "",
        "fields": [_describe(name, field) for name, field in kind.model_fields.items()],
    }


def _describe(name: str, field: FieldInfo) -> dict[str, Any]:
    entry = {"name": name, "type": type_text(field.annotation), "required": field.is_required()}
    if not field.is_required():
        default = field.get_default(call_default_factory=True)
        entry["default"] = default.model_dump() if isinstance(default, BaseModel) else default
    return entry


def type_text(annotation: Any) -> str:
    """A type in words that need no Python."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_text(inner[0])
    if origin is Literal:
        return " | ".join(str(value) for value in inner)
    if origin in (Union, UnionType):
        return " or ".join(type_text(one) for one in inner)
    if origin in (tuple, list, frozenset, set):
        several = [type_text(one) for one in inner if one is not Ellipsis]
        is_open = Ellipsis in inner or len(inner) == 1
        return f"list of {several[0]}" if is_open else f"[{', '.join(several)}]"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " | ".join(str(member.value) for member in annotation)
    return _WORDS.get(annotation, getattr(annotation, "__name__", str(annotation)))
