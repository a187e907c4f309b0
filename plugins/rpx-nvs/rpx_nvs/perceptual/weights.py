"""Where the weights of LPIPS come from: heads from this package, the trunk from its publisher."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError

import numpy as np
from numpy.typing import NDArray

from rpx_core.arrays import load_arrays
from rpx_core.errors import MetricError

if TYPE_CHECKING:
    import torch

TRUNK_URL = "https://download.pytorch.org/models/alexnet-owt-7be5be79.pth"
"""AlexNet trained on ImageNet; the file's SHA-256 begins with the digits in its name."""


def load_heads() -> list[NDArray[np.float32]]:
    """The learned channel weights of version 0.1, from the finest layer to the coarsest.

    `alex_heads.npz` holds those of the lpips package 0.1.4, whose licence lies beside it.
    """
    name = "alex_heads.npz"
    content = resources.files(__package__ or __name__).joinpath(name).read_bytes()
    arrays = load_arrays(content, name=name)
    return [arrays[f"lin{layer}"] for layer in range(5)]


def load_trunk(url: str = TRUNK_URL) -> Mapping[str, torch.Tensor]:
    """The trunk's weights, from torch's cache of checkpoints, else fetched into it and verified.

    Raises MetricError where they are neither there nor to be had.
    """
    try:
        import torch
    except ImportError as error:
        raise MetricError(
            "LPIPS needs PyTorch, which is not installed", hint="pip install 'rpx-nvs[lpips]'"
        ) from error
    file = Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]
    try:
        found: dict[str, Any] = torch.hub.load_state_dict_from_url(
            url, map_location="cpu", progress=False, check_hash=True, weights_only=True
        )
    except (OSError, URLError, RuntimeError) as error:
        raise MetricError(
            f"the weights of LPIPS are not available: {error}",
            hint=f"fetch {url} where there is a network and put it at {file}, or leave the metric "
            "nvs-lpips out",
        ) from error
    return found
