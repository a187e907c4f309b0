"""Options that every depth task has."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class DepthOptions(BaseModel):
    """Which depths are evaluated, and what is done to predictions after the alignment.

    Truth outside `min_depth` to `max_depth` (metres, both ends included) is left out; nothing of a
    prediction is. `nonpositive = "floor"` raises every finite prediction below `min_depth` to it,
    so that zero and negative ones are answers instead of abstentions, and `clamp` moves answers
    into the depth range; both count what they move.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_depth: float | None = None
    max_depth: float | None = None
    clamp: bool = False
    nonpositive: Literal["abstain", "floor"] = "abstain"
