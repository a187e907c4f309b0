"""Texts from elsewhere and counts, as fields of what is stored: each within its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field

from rpx_core.stored_text import MAX_NAME, MAX_PROSE, storable, storable_mapping

Count = Annotated[int, Field(ge=0)]


def _cut(value: object, limit: int) -> object:
    return storable(value, limit) if isinstance(value, str) else value


def _cut_mapping(value: object) -> object:
    is_text = isinstance(value, Mapping) and all(
        isinstance(part, str) for item in value.items() for part in item
    )
    return storable_mapping(value) if is_text else value  # type: ignore[arg-type]  # checked above


Name = Annotated[str, BeforeValidator(partial(_cut, limit=MAX_NAME))]
"""A short text from elsewhere, cut to what is stored."""
Prose = Annotated[str, BeforeValidator(partial(_cut, limit=MAX_PROSE))]
"""Sentences from elsewhere, cut to what is stored."""
Description = Annotated[Mapping[str, str], BeforeValidator(_cut_mapping)]
"""What something says of itself, cut to what is stored."""
