"""What average precision of boxes is asked for: its options, and the rules that they give."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

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

    def rules(self) -> Rules:
        """The rules that these options ask for; raises ConfigError for repeated ones."""
        thresholds, caps = sorted(set(self.thresholds)), sorted(set(self.max_detections))
        if len(thresholds) < len(self.thresholds) or len(caps) < len(self.max_detections):
            raise ConfigError("thresholds and max_detections must be distinct")
        bounds = [(low, np.inf if high is None else high) for low, high in self.sizes.values()]
        sizes = SizeRanges(("all", *self.sizes), (SIZES.bounds[0], *bounds))
        return Rules(Criteria(tuple(thresholds), sizes, caps[-1]), tuple(caps))
