"""Comparing the outlines of masks with the jumps of depth, by the corrected and published rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.boundaries import Mask, dilate, gradient_boundary, label_boundary, near
from rpx_core.errors import MetricError


@dataclass(frozen=True, eq=False)
class Matches:
    """One thin edge map held against another: all its pixels, those judged, those matched."""

    edges: Mask
    judged: Mask
    matched: Mask


def match_edges(edges: Mask, others: Mask, unknown: Mask, radius: float) -> Matches:
    """Which edge pixels have one of the other map within `radius` pixels.

    Judged are only those without an unknown pixel that near: an edge might lie there. Whether
    they match does not enter that choice, so leaving them out favours neither answer.
    """
    judged = edges & ~near(edges, unknown, radius)
    return Matches(edges, judged, near(judged, others, radius))


@dataclass(frozen=True, eq=False)
class ThickEdges:
    """The published edge maps of masks and depth, both grown until they can overlap."""

    masks: Mask
    depth: Mask

    @property
    def precision(self) -> float | None:
        """Share of the thick mask edges that are thick depth edges; None without any."""
        return _share(self.masks & self.depth, self.masks)

    @property
    def recall(self) -> float | None:
        """Share of the thick depth edges that are thick mask edges; None without any."""
        return _share(self.masks & self.depth, self.depth)


def thicken_edges(
    labels: NDArray[Any], depth: NDArray[Any], threshold: float, steps: int
) -> ThickEdges:
    """The published maps: label changes and steep gradients, each dilated `steps` times."""
    check_shapes(labels, depth)
    return ThickEdges(
        dilate(label_boundary(labels), steps),
        dilate(gradient_boundary(depth, threshold), steps),
    )


def f_score(precision: float, recall: float) -> float:
    """The harmonic mean; 0 when both are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total > 0 else 0.0


def check_shapes(masks: NDArray[Any], depth: NDArray[Any]) -> None:
    """Raise MetricError unless both maps are of one image."""
    if masks.shape != depth.shape:
        raise MetricError(
            f"masks are {masks.shape} and depth is {depth.shape}; the same pixels were expected",
            hint="bring both predictions to the size of the image",
        )


def _share(part: Mask, whole: Mask) -> float | None:
    total = int(np.count_nonzero(whole))
    return int(np.count_nonzero(part)) / total if total else None
