"""Depth maps as networks answer with them, checked before they are taken for depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rpx_core.errors import AdapterError
from rpx_core.inference.processors import check_tensor

if TYPE_CHECKING:
    import torch

_STRETCH = 1.25
"""How far a map's proportions may be off: networks work on whole patches. A map that was turned is
further off, unless the image is nearly square."""
_COARSEST = 32
"""Pixels of the image for one of the map, along a side."""


@dataclass(frozen=True)
class Expected:
    """So many maps of a size: exactly, in proportion, or any where nobody knows the proportions.

    Whatever else comes (one number, a map that was turned, several channels) would be resized or
    reshaped into something that looks like depth.
    """

    count: int
    shape: tuple[int, int]
    fit: Literal["exact", "proportions", "any"] = "proportions"

    def read(self, found: Any, who: str) -> list[torch.Tensor]:
        """Float32 maps (h, w) of a tensor (count, h, w) or (count, 1, h, w).

        Raises AdapterError for all else; its message begins with `who` returned it.
        """
        tensor = check_tensor(found, who, self._wanted())
        maps = tensor[:, 0] if tensor.ndim == 4 and tensor.shape[1] == 1 else tensor
        fits = maps.ndim == 3 and len(maps) == self.count and self._has_shape(*maps.shape[1:])
        if not (fits and tensor.is_floating_point()):
            kind = str(tensor.dtype).removeprefix("torch.")
            raise AdapterError(
                f"{who} returned depth of shape {tuple(tensor.shape)} ({kind}); "
                f"{self._wanted()} was expected",
                hint="an rpx.OutputAdapter of your own can bring it there",
            )
        return [one.detach().float() for one in maps]

    def _has_shape(self, height: int, width: int) -> bool:
        tall, wide = self.shape
        if self.fit == "exact":
            return (height, width) == (tall, wide)
        if height * _COARSEST < tall or width * _COARSEST < wide:
            return False
        stretch = height * wide / (width * tall)
        return self.fit == "any" or 1 / _STRETCH <= stretch <= _STRETCH

    def _wanted(self) -> str:
        height, width = self.shape
        also = {"exact": "", "proportions": ", or of these proportions", "any": ", or of any size"}
        return (
            f"({self.count}, {height}, {width}) or ({self.count}, 1, {height}, {width})"
            f"{also[self.fit]}, of floats,"
        )
