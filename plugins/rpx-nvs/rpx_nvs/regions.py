"""The parts of a target image that are scored apart: all that counts, what is seen, what is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Undefined
from rpx_nvs.types import Mask, NovelViewSynthesisGroundTruth
from rpx_nvs.visibility import HIDDEN, SEEN

ENDINGS = ("", "_covered", "_disoccluded")
"""Endings of output names, in the order of `Regions.select`."""


@dataclass(frozen=True)
class Regions:
    """Masks (H, W): pixels that count (None: all), and of these the seen and the hidden ones.

    The last two are None where visibility is not known.
    """

    scored: Mask | None
    covered: Mask | None
    disoccluded: Mask | None

    def select(self, values: NDArray[Any], *, inset: int = 0) -> tuple[NDArray[Any], ...]:
        """The values at the pixels of each region, flat; none for a region that is not known.

        `values` is (H, W) less `inset` pixels on every side.
        """
        inner = slice(inset, -inset or None)
        whole = values.reshape(-1) if self.scored is None else values[self.scored[inner, inner]]
        parts = (
            values[:0].reshape(-1) if mask is None else values[mask[inner, inner]]
            for mask in (self.covered, self.disoccluded)
        )
        return whole, *parts


def regions_of(truth: NovelViewSynthesisGroundTruth) -> Regions:
    """The regions of one target image."""
    if truth.seen is None:
        return Regions(truth.scored, None, None)
    covered, disoccluded = truth.seen == SEEN, truth.seen == HIDDEN
    if truth.scored is not None:
        covered, disoccluded = covered & truth.scored, disoccluded & truth.scored
    return Regions(truth.scored, covered, disoccluded)


def why_no_part(known: int) -> Undefined:
    """Why a region has no value, given how many pixels or windows are of known visibility."""
    return Undefined("the region has no pixel" if known else "what the sources see is not known")


def why_not_whole(truth: NovelViewSynthesisGroundTruth, smallest: int) -> Undefined | None:
    """Why a metric of whole images has no value here, if so.

    It needs `smallest` pixels on either side, and sees across any mask.
    """
    if min(truth.rgb.shape[:2]) < smallest:
        return Undefined(f"the image is smaller than {smallest}x{smallest} pixels")
    if truth.scored is not None and not np.all(truth.scored):
        return Undefined("a mask leaves pixels out")
    return None
