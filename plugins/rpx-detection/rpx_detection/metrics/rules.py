"""What average precision of boxes is asked for: its options, and the rules that they give."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from rpx_core.errors import ConfigError
from rpx_core.ranking.criteria import COCO_CAPS, COCO_THRESHOLDS, SIZES, Criteria, SizeRanges
from rpx_core.ranking.means import Rules
from rpx_detection.evidence import AreaSource

Threshold = Annotated[float, Field(gt=0, le=1)]
Cap = Annotated[int, Field(ge=1, le=1_000_000)]
SizeName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Area = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class DetectionAPOptions(BaseModel):
    """IoU `thresholds`, detections per class and image (`max_detections`), and size ranges.

    The largest of `max_detections` caps what is ranked; recall is also given below each other one.

    `sizes` are ranges of object area in square pixels, [low, high), where null has no end; `area`
    says whether that is the annotated area, where there is one, or the box's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    thresholds: Annotated[tuple[Threshold, ...], Field(min_length=1)] = COCO_THRESHOLDS
    max_detections: Annotated[tuple[Cap, ...], Field(min_length=1)] = COCO_CAPS
    sizes: dict[SizeName, tuple[Area, Area | None]] = Field(
        default={"small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2), "large": (96.0**2, None)}
    )
    area: AreaSource = "annotation"

    @field_validator("thresholds", "max_detections")
    @classmethod
    def _check_distinct(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        twice = [value for value in values if values.count(value) > 1]
        if twice:
            raise ValueError(f"{twice[0]:g} is listed twice")
        return values

    @model_validator(mode="after")
    def _check_sizes(self) -> DetectionAPOptions:
        try:
            self._ranges()
        except ConfigError as error:
            raise ValueError(f"sizes: {error.message}") from error
        return self

    def rules(self) -> Rules:
        """The rules that these options ask for."""
        thresholds, caps = sorted(self.thresholds), sorted(self.max_detections)
        return Rules(Criteria(tuple(thresholds), self._ranges(), caps[-1]), tuple(caps))

    def _ranges(self) -> SizeRanges:
        bounds = [(low, np.inf if high is None else high) for low, high in self.sizes.values()]
        return SizeRanges(("all", *self.sizes), (SIZES.bounds[0], *bounds))
