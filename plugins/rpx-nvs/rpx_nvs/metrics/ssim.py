"""Structural similarity of the synthesised view, with either of the two windows in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.state import Sum
from rpx_nvs.colours import LEVELS, to_levels
from rpx_nvs.regions import ENDINGS, regions_of, why_no_part
from rpx_nvs.structural_similarity import UNIFORM_7, WANG, Window, similarity_map
from rpx_nvs.types import (
    NovelViewSynthesisGroundTruth,
    NovelViewSynthesisPrediction,
)


@dataclass(frozen=True)
class SimilaritySums:
    """Window centres and their summed similarity: whole, covered, disoccluded (3,)."""

    windows: Sum
    similarity: Sum


class WindowedSimilarity:
    """Mean similarity over the windows of an image; regions are named after the first output."""

    version: ClassVar[str]
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = SimilaritySums
    outputs: Mapping[str, Output]
    window: ClassVar[Window]

    def measure(
        self,
        sample: Sample,
        truth: NovelViewSynthesisGroundTruth,
        prediction: NovelViewSynthesisPrediction,
    ) -> SimilaritySums | Undefined:
        """Summed similarity of one image, or why it has none."""
        if not self.window.fits(truth.rgb.shape):
            return Undefined(f"the image is smaller than the {self.window.name} window")
        levels = to_levels(prediction.rgb)
        similarity = similarity_map(levels, truth.rgb, self.window, LEVELS)
        parts = regions_of(truth).select(similarity, inset=self.window.radius)
        if not parts[0].size:
            return Undefined("no window is centred on a scored pixel")
        return SimilaritySums(
            windows=np.array([part.size for part in parts]),
            similarity=np.array([part.sum() for part in parts]),
        )

    def result(self, state: SimilaritySums) -> ResultMap:
        """Mean similarity of one image, or of the pooled windows of many."""
        whole, *_ = self.outputs
        parts = zip(ENDINGS, state.windows, state.similarity, strict=True)
        missing = why_no_part(int(sum(state.windows[1:])))
        values = {
            f"{whole}{ending}": float(similarity) / int(windows) if windows else missing
            for ending, windows, similarity in parts
        }
        return {name: values[name] for name in self.outputs}


def _similarity(summary: str) -> Output:
    return Output(better="higher", best=1.0, worst=-1.0, summary=summary)


class Ssim(WindowedSimilarity):
    """SSIM as its paper defines it: Gaussian window 11x11, sigma 1.5, weighted variances, L = 255.

    The formula is in `rpx_nvs.structural_similarity`. Per colour channel, averaged over the windows
    that lie inside the image and are centred on a scored pixel, and over channels; images (H, W, 3)
    are uint8, or floats from 0 to 1 taken times 255. -1 to 1, 1 exactly for equal images, higher is
    better. ssim_covered and ssim_disoccluded average the windows centred where a source view does,
    or does not, see the surface; a window looks beyond its region. Undefined for images smaller
    than the window, which is never shrunk, and for regions without centres. Raises MetricError for
    images of unequal shapes. `sample` averages images, `pooled` windows. Source: Wang et al. 2004.

    Trap: scikit-image's default is another window (`SsimUniform7`), 0.025 away on photographs;
    one window over the whole image (`Published`) is another thing altogether.
    """

    version: ClassVar[str] = "1"
    window: ClassVar[Window] = WANG
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "ssim": _similarity("SSIM, Gaussian 11x11 window, sigma 1.5"),
            "ssim_covered": _similarity("SSIM of windows centred where a source view sees"),
            "ssim_disoccluded": _similarity("SSIM of windows centred where no source view does"),
        }
    )


class SsimUniform7(WindowedSimilarity):
    """SSIM with a uniform 7x7 window and sample covariances: what scikit-image computes by default.

    The formula of `rpx_nvs.structural_similarity` with 49 equal weights and L = 255; variances and
    covariance are those of a sample, over 48. Per colour channel, averaged over the windows that
    lie inside the image and are centred on a scored pixel, and over channels; images (H, W, 3) are
    uint8, or floats from 0 to 1 taken times 255. -1 to 1, 1 exactly for equal images, higher is
    better. Undefined below 7x7 pixels, and where no window is centred on a scored pixel; raises
    MetricError for images of unequal shapes. `sample` averages images, `pooled` windows. Source:
    `skimage.metrics.structural_similarity`, with `channel_axis=2` and `data_range=255`.

    Trap: it is not the SSIM of the paper (`Ssim`); compare it only with numbers made this way.
    scikit-image takes L from the type of the images: floats without `data_range` have another L.
    """

    version: ClassVar[str] = "1"
    window: ClassVar[Window] = UNIFORM_7
    outputs: Mapping[str, Output] = MappingProxyType(
        {"ssim_uniform7": _similarity("SSIM, uniform 7x7 window, sample covariances")}
    )
