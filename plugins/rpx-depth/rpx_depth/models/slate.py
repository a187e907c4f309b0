"""The depth models that the benchmark lists by name: options whose defaults are their weights."""

from __future__ import annotations

from typing import Literal

from rpx_core.checkpoints import Checkpoint
from rpx_depth.models.hf import HfDepthOptions
from rpx_depth.models.metric3d import Metric3dOptions
from rpx_depth.models.unidepth import UniDepthOptions


class DepthAnythingSmall(HfDepthOptions):
    """Depth Anything V2 for indoor metres, ViT-S."""

    checkpoint: Checkpoint = "depth-anything/Depth-Anything-V2-Metric-Indoor-Small-hf"


class DepthAnythingBase(HfDepthOptions):
    """Depth Anything V2 for indoor metres, ViT-B."""

    checkpoint: Checkpoint = "depth-anything/Depth-Anything-V2-Metric-Indoor-Base-hf"


class DepthAnythingLarge(HfDepthOptions):
    """Depth Anything V2 for indoor metres, ViT-L."""

    checkpoint: Checkpoint = "depth-anything/Depth-Anything-V2-Metric-Indoor-Large-hf"


class DepthPro(HfDepthOptions):
    """Depth Pro; it estimates the focal length itself."""

    checkpoint: Checkpoint = "apple/DepthPro-hf"


class ZoeDepthNyu(HfDepthOptions):
    """ZoeDepth, trained on NYU Depth v2."""

    checkpoint: Checkpoint = "Intel/zoedepth-nyu"


class UniDepthBase(UniDepthOptions):
    """UniDepth V2, ViT-B."""

    checkpoint: Checkpoint = "lpiccinelli/unidepth-v2-vitb14"


class UniDepthLarge(UniDepthOptions):
    """UniDepth V2, ViT-L."""

    checkpoint: Checkpoint = "lpiccinelli/unidepth-v2-vitl14"


class Metric3dSmall(Metric3dOptions):
    """Metric3D V2, ViT-S."""

    entry: Literal["metric3d_vit_small"] = "metric3d_vit_small"


class Metric3dLarge(Metric3dOptions):
    """Metric3D V2, ViT-L."""

    entry: Literal["metric3d_vit_large"] = "metric3d_vit_large"


class Metric3dGiant(Metric3dOptions):
    """Metric3D V2, ViT-g."""

    entry: Literal["metric3d_vit_giant2"] = "metric3d_vit_giant2"
