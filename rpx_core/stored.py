"""The base of every value that is written to disk: frozen, strict, and finite."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Stored(BaseModel):
    """A value that is written to disk."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
