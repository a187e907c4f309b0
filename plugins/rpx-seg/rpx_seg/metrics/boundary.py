"""How well the outlines of segments fit: boundary IoU and boundary F."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.boundaries import label_boundary, near
from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_core.outputs import share
from rpx_core.state import Sum
from rpx_seg import confusion
from rpx_seg.assignment import assign
from rpx_seg.boundaries import BAND, TOLERANCE, Mask, boundary_band, tolerance_px
from rpx_seg.overlaps import VOID, Labels, count_pairs, overlap_segments

Share = Annotated[float, Field(gt=0, le=0.5)]


class BoundaryOptions(BaseModel):
    """Widths as shares of the image diagonal: of the `band`, and the `tolerance` in distance."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    band: Share = BAND
    tolerance: Share = TOLERANCE


@dataclass(frozen=True)
class BoundarySums:
    """Summed band IoU over `places` segments or classes, and boundary pixels with those in reach.

    `predicted_near` predicted boundary pixels have a true one within the tolerance, `true_near`
    true ones a predicted one.
    """

    places: Sum
    iou: Sum
    predicted: Sum
    predicted_near: Sum
    true: Sum
    true_near: Sum


class _Boundary(ABC):
    """What both boundary metrics share; they differ in which bands are compared."""

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = BoundarySums
    outputs: ClassVar[Mapping[str, Output]] = MappingProxyType(
        {
            "boundary_iou": share("IoU of bands along the outlines", headline="sample"),
            "boundary_f": share("F1 of boundary pixels within the tolerance", headline="sample"),
            "boundary_precision": share(
                "predicted boundary pixels near a true one", headline="sample"
            ),
            "boundary_recall": share(
                "true boundary pixels near a predicted one", headline="sample"
            ),
        }
    )

    def __init__(self, options: BoundaryOptions) -> None:
        self._options = options

    def measure(self, sample: Sample, truth: Any, prediction: Any) -> BoundarySums | None:
        """Sums over one image, or None where there is neither a boundary nor a segment."""
        places, iou = self._compare_bands(truth.mask, prediction.mask)
        true, predicted = _judged_boundaries(truth.mask, prediction.mask)
        sums = BoundarySums(
            places=places,
            iou=iou,
            predicted=int(np.count_nonzero(predicted)),
            predicted_near=0,
            true=int(np.count_nonzero(true)),
            true_near=0,
        )
        if not (sums.places or sums.predicted or sums.true):
            return None
        radius = tolerance_px(truth.mask.shape, self._options.tolerance)
        return BoundarySums(
            **vars(sums)
            | {
                "predicted_near": int(np.count_nonzero(near(predicted, true, radius))),
                "true_near": int(np.count_nonzero(near(true, predicted, radius))),
            }
        )

    def result(self, state: BoundarySums) -> ResultMap:
        """The outputs of one image, or of the pooled boundaries of many."""
        precision = _share(state.predicted_near, state.predicted)
        recall = _share(state.true_near, state.true)
        # One side without boundary has missed, or invented, all of it.
        p, r = precision or 0.0, recall or 0.0
        known = precision is not None or recall is not None
        return {
            "boundary_iou": _share(state.iou, state.places),
            "boundary_f": (2 * p * r / (p + r) if p + r else 0.0) if known else None,
            "boundary_precision": precision,
            "boundary_recall": recall,
        }

    def _bands(self, truth: Labels, prediction: Labels) -> tuple[Labels, Labels]:
        """The bands of both maps; the edge of void makes one in both."""
        band = self._options.band
        judged = np.where(truth == VOID, VOID, prediction)
        return boundary_band(truth, band), boundary_band(judged, band)

    @abstractmethod
    def _compare_bands(self, truth: Labels, prediction: Labels) -> tuple[int, float]:
        """How many segments or classes there are, and the sum of their band IoU."""


class MaskBoundary(_Boundary):
    """How well the outlines of instances fit.

    boundary_iou: predicted segments are assigned to true ones as by MaskIou; of each pair the IoU
    of the bands inside them, as wide as `band` of the image diagonal (0.02, at least 1 pixel),
    along their outlines and the image border; Σ / max(T, P) over T true and P predicted segments.
    boundary_f: harmonic mean of boundary_precision, the share of predicted boundary pixels with a
    true one within `tolerance` of the diagonal (0.008, rounded up), and boundary_recall, the
    reverse; over the boundaries of the whole (H, W) map, whichever segments they part. 0 to 1,
    higher is better.

    Boundary pixels differ from their right or lower neighbour; those beside or on void are left
    out. Undefined without any segment; precision or recall without the boundary it is a share of,
    and F, which is 0 when one side has none, when neither has. `pooled` adds up segments and
    boundary pixels of all images. Raises MetricError for maps of unequal shapes. Sources: Cheng et
    al. 2021 (Boundary IoU); Martin et al. 2004, Perazzi et al. 2016 (F with tolerance). Unlike
    DAVIS, F is not averaged over objects.

    Trap: small segments lie in their band altogether; there boundary_iou is the mask IoU.
    """

    def _compare_bands(self, truth: Labels, prediction: Labels) -> tuple[int, float]:
        overlaps = overlap_segments(truth, prediction)
        pairs = assign(overlaps)
        bands = overlap_segments(*self._bands(truth, prediction))
        iou = dict(
            zip(
                zip(bands.truth_ids[bands.rows], bands.prediction_ids[bands.columns], strict=True),
                bands.iou(),
                strict=True,
            )
        )
        assigned = zip(
            overlaps.truth_ids[overlaps.rows[pairs]],
            overlaps.prediction_ids[overlaps.columns[pairs]],
            strict=True,
        )
        judged = int(np.count_nonzero(overlaps.prediction_areas > overlaps.void_areas))
        total = math.fsum(iou.get(pair, 0.0) for pair in assigned)
        return max(overlaps.truth_ids.size, judged), total


class SemanticBoundary(_Boundary):
    """How well the outlines of classes fit.

    boundary_iou: IoU of the bands inside the regions of each class, as wide as `band` of the image
    diagonal (0.02, at least 1 pixel), along their outlines and the image border; the mean over the
    classes with a band in the truth or the prediction. The rest, and the sources, are those of
    MaskBoundary: boundary_f, boundary_precision and boundary_recall over boundaries between any two
    classes, on (H, W) class maps; 0 to 1, higher is better, undefined without classes to judge.
    `pooled` is the mean over the classes of each image.
    """

    def _compare_bands(self, truth: Labels, prediction: Labels) -> tuple[int, float]:
        # Class 0 is a class; in a band, 0 is the inside.
        shifted = (np.where(labels == VOID, VOID, labels + 1) for labels in (truth, prediction))
        pairs = count_pairs(*self._bands(*shifted))
        table = confusion.tabulate(pairs)
        iou = confusion.iou(table)[table.classes > 0]
        kept = iou[~np.isnan(iou)]
        return kept.size, math.fsum(kept)


def _judged_boundaries(truth: Labels, prediction: Labels) -> tuple[Mask, Mask]:
    """Thin boundaries of both maps, without what lies on or beside void."""
    void = truth == VOID
    judged = ~void
    judged[:, :-1] &= ~void[:, 1:]
    judged[:-1] &= ~void[1:]
    return label_boundary(truth) & judged, label_boundary(prediction) & judged


def _share(part: Any, whole: Any) -> float | None:
    return float(part) / int(whole) if int(whole) else None
