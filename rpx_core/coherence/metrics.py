"""Stack geometric coherence (SGC) of masks and depth, by the corrected and the published rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.boundaries import Mask
from rpx_core.coherence.edges import (
    Matches,
    ThickEdges,
    check_shapes,
    f_score,
    match_edges,
    thicken_edges,
)
from rpx_core.coherence.pictures import draw_edges
from rpx_core.contracts import (
    Answer,
    Output,
    Picture,
    ResultMap,
    Sample,
    Undefined,
    Unit,
)
from rpx_core.errors import MetricError
from rpx_core.outputs import share
from rpx_core.state import Sum


class CoherenceOptions(BaseModel):
    """How many pixels apart a mask's outline and a depth jump may lie and still agree."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tolerance_px: Annotated[float, Field(ge=0, le=64, allow_inf_nan=False)] = 3.0


@dataclass(frozen=True)
class EdgeCounts:
    """Edge pixels of masks and of depth: all, those judged, and those that match."""

    mask_edges: Sum
    mask_judged: Sum
    mask_matched: Sum
    depth_edges: Sum
    depth_judged: Sum
    depth_matched: Sum


class Coherence:
    """Do the outlines of predicted masks lie where predicted depth jumps? (`rpx-2`)

    Edges are the thin boundary maps that the tasks make of their predictions, (H, W) of one image.
    precision = share of mask edge pixels with a depth edge within `tolerance_px` (distance of
    pixel centres), recall = share of depth edge pixels with a mask edge that near, sgc = their
    harmonic mean; 0 to 1, higher is better. Judged are edge pixels without an unknown pixel within
    the tolerance: depth that is not finite or not positive (an abstention), a negative label
    (void). coverage is the share of edge pixels that are judged. The truth plays no part.

    Undefined where either map has no edge that can be judged: a single object, or a flat depth map,
    says nothing; such samples are counted. Raises MetricError for maps of different sizes. `sample`
    is the mean over samples, `pooled` counts pixels over all of them.

    Source: the SGC of the RPX benchmark (Jaykumar P et al., 2026), matched as in the boundary
    measure of Martin et al. (2004) but without one-to-one assignment.

    Traps: objects that touch what they stand on have outlines without a jump, so a perfect stack
    stays below 1: compare models on the same data. Two wrong predictions can agree.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.STACK
    State: ClassVar[type] = EdgeCounts
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "sgc": share("agreement of mask outlines with depth jumps (F1)", headline="sample"),
            "precision": share("mask edge pixels with a depth edge nearby", headline="sample"),
            "recall": share("depth edge pixels with a mask edge nearby", headline="sample"),
            "coverage": share("edge pixels that could be judged", headline="sample"),
        }
    )

    def __init__(self, options: CoherenceOptions) -> None:
        self._tolerance = options.tolerance_px

    def measure(self, sample: Sample, answers: Mapping[str, Answer]) -> EdgeCounts | Undefined:
        """Counts of one sample; undefined when either map has no edge to judge."""
        masks, depth = self._match(answers)
        counts = [
            int(np.count_nonzero(pixels))
            for side in (masks, depth)
            for pixels in (side.edges, side.judged, side.matched)
        ]
        found = EdgeCounts(*counts)
        if not found.mask_judged:
            return Undefined("the masks have no edge that can be judged")
        if not found.depth_judged:
            return Undefined("the depth has no edge that can be judged")
        return found

    def result(self, state: EdgeCounts) -> ResultMap:
        """The outputs of one sample, or of the pixels of many."""
        precision = int(state.mask_matched) / int(state.mask_judged)
        recall = int(state.depth_matched) / int(state.depth_judged)
        judged = int(state.mask_judged) + int(state.depth_judged)
        return {
            "sgc": f_score(precision, recall),
            "precision": precision,
            "recall": recall,
            "coverage": judged / (int(state.mask_edges) + int(state.depth_edges)),
        }

    def preview(self, sample: Sample, answers: Mapping[str, Answer]) -> Sequence[Picture]:
        """The edges that agree, those that do not, and those not judged."""
        masks, depth = self._match(answers)
        return draw_edges(
            sample.rgb,
            agreed=masks.matched | depth.matched,
            masks_alone=masks.judged & ~masks.matched,
            depth_alone=depth.judged & ~depth.matched,
            unjudged=(masks.edges & ~masks.judged) | (depth.edges & ~depth.judged),
        )

    def _match(self, answers: Mapping[str, Answer]) -> tuple[Matches, Matches]:
        masks, depth = answers.values()
        unknown = _unknown(*_maps(answers))
        check_shapes(masks.boundary, depth.boundary)
        check_shapes(unknown, depth.boundary)
        return (
            match_edges(masks.boundary, depth.boundary, unknown, self._tolerance),
            match_edges(depth.boundary, masks.boundary, unknown, self._tolerance),
        )


class PublishedCoherenceOptions(BaseModel):
    """The depth gradient of an edge in metres per pixel, and how often both maps are dilated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    depth_gradient_threshold: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.1
    boundary_dilation: Annotated[int, Field(ge=0, le=64)] = 2


@dataclass(frozen=True)
class CoherenceSums:
    """Precision and recall of samples, and how many; adding pools samples."""

    samples: Sum
    precision: Sum
    recall: Sum


class PublishedCoherence:
    """The published stack geometric coherence of predicted masks and depth (`rpx-1`).

    Mask edges are pixels whose right or lower neighbour has another label; depth edges those whose
    central-difference gradient exceeds 0.1 m per pixel. Both maps (H, W) are dilated twice by the
    cross of the four neighbours; over the dilated maps precision = shared / mask, recall =
    shared / depth. `pooled`, the headline, takes sgc from the mean precision and the mean recall,
    as published; `sample` is the mean of per-sample sgc. 0 to 1, higher is better. Undefined,
    where the published function counts 1, when either map has no edge. Raises MetricError where
    masks and depth differ in size.

    Source: the RPX benchmark (Jaykumar P et al., 2026).

    Traps: two dilated maps that lie a pixel apart overlap only in part, so perfect predictions
    score below 1. The threshold means another jump at every focal length and distance, the rim of
    a hole in the depth map (0 m) is an edge. `Coherence` has none of these faults.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.STACK
    State: ClassVar[type] = CoherenceSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "sgc": share("published agreement of mask outlines with depth jumps (F1)"),
            "precision": share("dilated mask edges inside dilated depth edges", headline="sample"),
            "recall": share("dilated depth edges inside dilated mask edges", headline="sample"),
        }
    )

    def __init__(self, options: PublishedCoherenceOptions) -> None:
        self._options = options

    def measure(self, sample: Sample, answers: Mapping[str, Answer]) -> CoherenceSums | Undefined:
        """Precision and recall of one sample; undefined when either map has no edge."""
        edges = self._edges(answers)
        precision, recall = edges.precision, edges.recall
        if precision is None:
            return Undefined("the masks have no edge")
        if recall is None:
            return Undefined("the depth has no edge")
        return CoherenceSums(1, precision, recall)

    def result(self, state: CoherenceSums) -> ResultMap:
        """The outputs of one sample, or from the means over many."""
        precision = float(state.precision) / int(state.samples)
        recall = float(state.recall) / int(state.samples)
        return {"sgc": f_score(precision, recall), "precision": precision, "recall": recall}

    def preview(self, sample: Sample, answers: Mapping[str, Answer]) -> Sequence[Picture]:
        """The two dilated maps, where they overlap and where not."""
        edges = self._edges(answers)
        return draw_edges(
            sample.rgb,
            agreed=edges.masks & edges.depth,
            masks_alone=edges.masks & ~edges.depth,
            depth_alone=edges.depth & ~edges.masks,
            unjudged=np.zeros_like(edges.masks),
        )

    def _edges(self, answers: Mapping[str, Answer]) -> ThickEdges:
        options = self._options
        return thicken_edges(
            *_maps(answers), options.depth_gradient_threshold, options.boundary_dilation
        )


def _maps(answers: Mapping[str, Answer]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The label map and the depth map, by the published names of their fields."""
    found = []
    for (task, answer), field in zip(answers.items(), ("mask", "depth_map"), strict=True):
        array = getattr(answer.prediction, field, None)
        if not isinstance(array, np.ndarray):
            raise MetricError(
                f"a prediction of {task} has no array `{field}`",
                hint="SGC compares SegmentationPrediction.mask with DepthPrediction.depth_map",
            )
        found.append(array)
    labels, depth = found
    return labels, depth


def _unknown(labels: NDArray[Any], depth: NDArray[Any]) -> Mask:
    check_shapes(labels, depth)
    unknown: Mask = (labels < 0) | ~np.isfinite(depth) | (depth <= 0)
    return unknown
