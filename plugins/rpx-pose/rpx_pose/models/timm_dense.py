"""Matches and poses from the features of any backbone of the `timm` library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rpx_core.checkpoints import resolve_commit
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError, ConfigError
from rpx_core.inference.devices import Placement
from rpx_core.inference.model import SETUP_FIRST, TorchModel, TorchOptions
from rpx_pose.dense_matching import FeatureMap, match_points
from rpx_pose.essential import Robustness, estimate_pose
from rpx_pose.models.images import pair_cameras, pair_images
from rpx_pose.models.timm_backbone import Backbone, hub_id
from rpx_pose.types import (
    KeypointCorrespondencePrediction,
    KeypointQuery,
    RelativePosePrediction,
)


class TimmOptions(TorchOptions):
    """Which backbone, which weights, and how fine its features are.

    `architecture` is a name of timm, with or without a tag: `resnet18`,
    `vit_small_patch14_dinov2.lvd142m`. Weights are a local file `weights`, else those of the hub at
    `revision`; with `pretrained = false` they are random, drawn from the seed. Features are taken
    from the deepest level whose cells are at most `stride_px` wide. Images whose longer side has
    more than `longer_side_px` pixels are made smaller first.
    """

    architecture: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")]
    pretrained: bool = True
    weights: Path | None = None
    revision: str | None = None
    stride_px: Annotated[int, Field(ge=1, le=64)] = 8
    longer_side_px: Annotated[int, Field(ge=64, le=4096)] = 640

    def pinned(self) -> Self:
        """The same with the commit of the weights on the hub, where they come from there."""
        if self.weights is not None or not self.pretrained:
            if self.revision is not None:
                raise ConfigError(
                    "model.options.revision: only weights of the hub have one",
                    hint="leave it out: a file counts by its content, random weights by the seed",
                )
            return self
        commit = resolve_commit(hub_id(self.architecture), self.revision)
        return self.model_copy(update={"revision": commit})


class TimmPoseOptions(TimmOptions):
    """The same, and how the pose is found: by `samples` of five matches, within `threshold_px`."""

    samples: Annotated[int, Field(ge=1, le=10_000)] = 500
    threshold_px: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 2.0


class DenseFeatures:
    """Feature maps of both images of pairs, by one backbone."""

    def __init__(self, options: TimmOptions) -> None:
        self._options = options
        self._backbone: Backbone | None = None

    @property
    def module(self) -> Any:
        """The network."""
        return self._backbone.module if self._backbone else None

    def load(self, placement: Placement) -> None:
        """Load the backbone."""
        options = self._options
        self._backbone = Backbone.load(
            options.architecture, self._overlay(), options.stride_px, placement
        )

    def describe(self) -> dict[str, str]:
        """The backbone, its weights and its level."""
        options = self._options
        weights = "random"
        if options.weights is not None:
            weights = options.weights.name
        elif options.pretrained:
            weights = f"hub@{options.revision}"
        described = {"architecture": options.architecture, "checkpoint": weights}
        return described | (self._backbone.describe() if self._backbone else {})

    def maps(self, samples: Sequence[Sample]) -> list[tuple[FeatureMap, FeatureMap]]:
        """The maps of each pair; images of one size go through the network together."""
        if self._backbone is None:
            raise AdapterError("the backbone is not loaded", hint=SETUP_FIRST)
        images = [image for sample in samples for image in pair_images(sample)]
        by_shape: dict[tuple[int, ...], list[int]] = {}
        for number, image in enumerate(images):
            by_shape.setdefault(image.shape, []).append(number)
        found: dict[int, FeatureMap] = {}
        for shape, numbers in by_shape.items():
            stacked: NDArray[np.uint8] = np.stack([images[number] for number in numbers])
            values = self._backbone.features(stacked, self._options.longer_side_px)
            for number, one in zip(numbers, values, strict=True):
                found[number] = FeatureMap.from_array(one, (shape[0], shape[1]))
        return [(found[i], found[i + 1]) for i in range(0, len(images), 2)]

    def _overlay(self) -> dict[str, str] | None:
        """What replaces timm's own idea of where the weights are; None for random ones."""
        options = self._options
        if options.weights is not None:
            return {"file": str(options.weights)}
        if not options.pretrained:
            return None
        return {"hf_hub_id": f"{hub_id(options.architecture)}@{options.revision}"}


class TimmMatches(DenseFeatures):
    """Finds the points asked for in the second image."""

    def answer(self, samples: Sequence[Sample]) -> list[KeypointCorrespondencePrediction]:
        """Mutual matches of the points; those without one are left out."""
        return [
            KeypointCorrespondencePrediction(*match_points(first, second, _points(sample, first)))
            for sample, (first, second) in zip(samples, self.maps(samples), strict=True)
        ]


class TimmPose(DenseFeatures):
    """The relative pose from the matches of all cells; up to scale."""

    def __init__(self, options: TimmPoseOptions) -> None:
        super().__init__(options)
        self._robustness = Robustness(samples=options.samples, threshold_px=options.threshold_px)

    def answer(self, samples: Sequence[Sample]) -> list[RelativePosePrediction]:
        """The pose of each second camera, or none where too few matches agree."""
        predictions = []
        for sample, (first, second) in zip(samples, self.maps(samples), strict=True):
            points0, points1, _ = match_points(first, second, first.centres())
            matches = points0, points1
            predictions.append(estimate_pose(matches, pair_cameras(sample), self._robustness))
        return predictions


def load(options: TimmOptions, runtime: Runtime) -> TorchModel:
    """The matcher, on the device of the run."""
    return TorchModel(TimmMatches(options), runtime, options)


def load_pose(options: TimmPoseOptions, runtime: Runtime) -> TorchModel:
    """The pose estimator, on the device of the run."""
    return TorchModel(TimmPose(options), runtime, options)


def _points(sample: Sample, first: FeatureMap) -> NDArray[np.float64]:
    """The points asked for; without any, the middle of every cell."""
    query = sample.query
    asked = isinstance(query, KeypointQuery) and len(query.points0)
    return np.asarray(query.points0, np.float64) if asked else first.centres()
