"""What is asked of a view synthesis model, and by which rules it is read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Level = Annotated[int, Field(ge=0, le=255)]


class NovelViewSynthesisOptions(BaseModel):
    """What is given, what is asked for, and which pixels count.

    Frames of a sequence make samples: the target is the frame whose number is `gap` higher, and
    `sources` counts the views given, the frame and its predecessors in steps of `gap`.
    `source_depth` says whether the depth of the source views is given to the model where the
    dataset has it. `objects_only` scores the target's objects alone. `background` is the 8-bit
    colour that transparent images are laid over: sources, targets and predictions, which all fail
    without it. A prediction of another size than the target fails too, unless `resize` says to
    interpolate it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    gap: Annotated[int, Field(ge=1)] = 1
    sources: Annotated[int, Field(ge=1, le=64)] = 1
    source_depth: bool = True
    objects_only: bool = False
    background: tuple[Level, Level, Level] | None = None
    resize: Literal["error", "bilinear"] = "error"
