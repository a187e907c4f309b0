"""Features of images from a network in a file, behind one pinned preparation of the image."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError

if TYPE_CHECKING:
    import torch


class FeatureNetwork:
    """A TorchScript file that maps float32 (1, 3, S, S) in 0 to 255 to features of any shape.

    `call` names a keyword that is passed as True, such as `return_features` of the published
    Inception file. Raises MetricError where the file is no such network.
    """

    def __init__(self, path: Path, size: int, call: str | None = None) -> None:
        import torch

        self._size = size
        self._keywords = {call: True} if call else {}
        try:
            self._network: Any = torch.jit.load(str(path), map_location="cpu").eval()
        except (RuntimeError, ValueError, OSError) as error:
            raise MetricError(
                f"{path.name} is not a TorchScript network: {str(error).splitlines()[0]}",
                hint="export one with torch.jit.trace(network, example).save(file)",
            ) from error

    def describe(self, rgb: NDArray[np.float64]) -> NDArray[np.float32]:
        """The features (D,) of one image (H, W, 3), its colours from 0 to 1."""
        import torch

        image = resize(rgb, self._size) * 255
        batch = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)[None]))
        with torch.inference_mode():
            features: torch.Tensor = self._network(batch, **self._keywords)
        found: NDArray[np.float32] = features.reshape(-1).to(torch.float32).numpy()
        if not np.isfinite(found).all():
            raise MetricError("the network's features are not finite")
        return found


def resize(rgb: NDArray[np.float64], size: int) -> NDArray[np.float32]:
    """The image at (size, size): Pillow's bicubic filter on float32 channels, anti-aliased.

    As in clean-fid. A library that skips pixels when it shrinks an image moves the distances.
    """
    from PIL import Image

    channels = [
        Image.fromarray(np.ascontiguousarray(rgb[..., channel], np.float32), mode="F").resize(
            (size, size), Image.Resampling.BICUBIC
        )
        for channel in range(3)
    ]
    return np.stack([np.asarray(channel, np.float32) for channel in channels], axis=-1)
