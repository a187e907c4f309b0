"""How far the synthesised images of a run are, as a set, from the true ones: FID and KID."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.state import Cat, Sum
from rpx_nvs.colours import to_unit
from rpx_nvs.feature_distances import frechet_distance, kernel_distance
from rpx_nvs.perceptual.features import FeatureNetwork
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction

_FEW = Undefined("there are fewer than two images")
Describe = Callable[[NDArray[np.float64]], NDArray[np.float32]]


class FeatureDistanceOptions(BaseModel, frozen=True, extra="forbid"):
    """The network that describes images, and how it wants them."""

    network: Path
    """A TorchScript file: float32 (1, 3, size, size) in 0 to 255 to features. Its content is part
    of the run's identity."""
    size: Annotated[int, Field(ge=1, le=4096)] = 299
    """Width and height that images are resized to: bicubic on floats, anti-aliased."""
    call: str | None = None
    """A keyword to pass as True, such as `return_features` of the published Inception file."""


@dataclass(frozen=True, eq=False)
class FeatureSets:
    """A row of features per image, predicted and true."""

    images: Sum
    predicted: Cat
    true: Cat


class FeatureDistance:
    """FID and KID between all synthesised and all true images, by the features of a network.

    The formulas are in `rpx_nvs.feature_distances`; X are the features (n, D), a row per image.
    `fid` from 0 and `kid` of either sign; lower is better, equal images give 0 for `fid`. Both are
    undefined for fewer than two images, so a single sample has none; the headline pools the run.
    Raises MetricError for a file that is no network, and for features that are not finite. Source:
    Heusel et al. 2017 (FID), Bińkowski et al. 2018 (KID).

    Traps: numbers of different networks, resizing or image counts are not comparable, and with no
    more images than features (2048 for Inception) the covariance is singular and `fid` biased
    upwards: the report says so. Masks are not applied: features reach across them.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = FeatureSets
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "fid": Output(
                better="lower",
                best=0.0,
                headline="pooled",
                aggregates=("pooled",),
                summary="Fréchet distance of features over all images",
            ),
            "kid": Output(
                better="lower",
                headline="pooled",
                aggregates=("pooled",),
                summary="unbiased kernel distance of features over all images; may be negative",
            ),
            "features": Output(
                better=None,
                headline="pooled",
                aggregates=("pooled",),
                summary="length of a feature vector",
            ),
        }
    )

    def __init__(self, options: FeatureDistanceOptions, describe: Describe | None = None) -> None:
        self._options = options
        # Loaded when first needed: reports build metrics too, where there may be no torch.
        self._describe = describe

    def measure(
        self,
        sample: Sample,
        truth: NovelViewSynthesisGroundTruth,
        prediction: NovelViewSynthesisPrediction,
    ) -> FeatureSets:
        """The features of one pair of images."""
        if self._describe is None:
            options = self._options
            self._describe = FeatureNetwork(options.network, options.size, options.call).describe
        predicted, true = (self._describe(to_unit(rgb)) for rgb in (prediction.rgb, truth.rgb))
        return FeatureSets(1, predicted[None], true[None])

    def result(self, state: FeatureSets) -> ResultMap:
        """Both distances of the sets."""
        fid = frechet_distance(state.predicted, state.true)
        kid = kernel_distance(state.predicted, state.true)
        return {
            "fid": _FEW if fid is None else fid,
            "kid": _FEW if kid is None else kid,
            "features": float(state.true.shape[1]),
        }

    def doubt(self, state: FeatureSets) -> str | None:
        """Whether there are too few images for a covariance."""
        images, features = state.true.shape
        if images > features:
            return None
        return (
            f"{images} images for {features} features: the covariances are singular and fid is "
            "biased upwards; compare only runs of as many images"
        )
