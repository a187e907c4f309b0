"""Dense depth models, asked at points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rpx_core.contracts import Model, Runtime, Sample
from rpx_core.model_calls import describe
from rpx_depth.inputs import query_points
from rpx_depth.models import (
    ground_plane,
    hf,
    mean_depth,
    metric3d,
    standing_objects,
    stereo_sgbm,
    unidepth,
)
from rpx_depth.points import sample_depth
from rpx_depth.types import SparseDepthPrediction


class AtPoints:
    """Answers with the depth of the pixel nearest to each point of the query."""

    task = "sparse_depth"

    def __init__(self, dense: Model) -> None:
        self._dense = dense

    def setup(self) -> None:
        """Set up the dense model."""
        self._dense.setup()

    def describe(self) -> dict[str, str]:
        """What the dense model says of itself."""
        return describe(self._dense)

    @property
    def module(self) -> Any:
        """The dense model's network, where it has one."""
        return getattr(self._dense, "module", None)

    def synchronize(self) -> None:
        """Wait for the dense model's device."""
        wait = getattr(self._dense, "synchronize", None)
        if callable(wait):
            wait()

    def close(self) -> None:
        """Let the dense model go."""
        close = getattr(self._dense, "close", None)
        if callable(close):
            close()

    def predict(self, batch: Sequence[Sample]) -> list[SparseDepthPrediction]:
        """Depths at the query's points; raises ModelError for a sample that asks for none."""
        points = [query_points(sample) for sample in batch]
        maps = [prediction.depth_map for prediction in self._dense.predict(batch)]
        return [
            SparseDepthPrediction(at, sample_depth(depth, at).astype(np.float64))
            for at, depth in zip(points, maps, strict=True)
        ]


def load_mean_depth(options: mean_depth.MeanDepthOptions, runtime: Runtime) -> AtPoints:
    """One depth at every point."""
    return AtPoints(mean_depth.load(options, runtime))


def load_ground_plane(options: ground_plane.GroundPlaneOptions, runtime: Runtime) -> AtPoints:
    """The depth of the plane at every point."""
    return AtPoints(ground_plane.load(options, runtime))


def load_standing_objects(
    options: standing_objects.StandingObjectsOptions, runtime: Runtime
) -> AtPoints:
    """Plane and figures, read at the points."""
    return AtPoints(standing_objects.load(options, runtime))


def load_stereo_sgbm(options: stereo_sgbm.StereoSgbmOptions, runtime: Runtime) -> AtPoints:
    """Stereo matching of the whole pair, read at the points."""
    return AtPoints(stereo_sgbm.load(options, runtime))


def load_hf(options: hf.HfDepthOptions, runtime: Runtime) -> AtPoints:
    """A depth estimator of transformers, read at the points."""
    return AtPoints(hf.load(options, runtime))


def load_unidepth(options: unidepth.UniDepthOptions, runtime: Runtime) -> AtPoints:
    """UniDepth V2, read at the points."""
    return AtPoints(unidepth.load(options, runtime))


def load_metric3d(options: metric3d.Metric3dOptions, runtime: Runtime) -> AtPoints:
    """Metric3D V2, read at the points."""
    return AtPoints(metric3d.load(options, runtime))
