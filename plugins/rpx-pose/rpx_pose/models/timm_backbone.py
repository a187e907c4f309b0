"""A backbone of `timm` that gives feature maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import ConfigError, ModelError
from rpx_core.inference.devices import Placement
from rpx_core.spelling import did_you_mean

_MULTIPLE = 32
"""Sides of images are made multiples of this, so that every level divides them evenly."""


@dataclass(frozen=True)
class Backbone:
    """A network whose only output is the chosen level; `fixed` is its only input size, if any."""

    module: Any
    stride: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    fixed: tuple[int, int] | None
    multiple: int
    placement: Placement

    @classmethod
    def load(
        cls,
        architecture: str,
        overlay: Mapping[str, str] | None,
        stride_px: int,
        placement: Placement,
    ) -> Backbone:
        """The backbone cut off at its deepest level of at most `stride_px`, else its finest.

        `overlay` says where its weights are; None leaves them random.
        """
        import timm

        _check(architecture)
        # Levels are known only once a network is built; this one is thrown away.
        strides = _create(architecture, pretrained=False)[0].feature_info.reduction()
        level = max((i for i, s in enumerate(strides) if s <= stride_px), default=0)
        try:
            module, fixed = _create(
                architecture,
                pretrained=overlay is not None,
                out_indices=(level,),
                pretrained_cfg_overlay=dict(overlay or {}),
            )
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            raise ModelError(
                f"timm {timm.__version__} cannot load the weights of {architecture}: {error}",
                hint="--set model.options.weights=FILE, or pretrained=false for random ones",
            ) from error
        settings = timm.data.resolve_data_config({}, model=module)
        stride = int(strides[level])
        return cls(
            module=module.to(placement.device, placement.torch_dtype).eval(),
            stride=stride,
            mean=tuple(settings["mean"]),
            std=tuple(settings["std"]),
            fixed=tuple(settings["input_size"][-2:]) if fixed else None,
            multiple=int(np.lcm(_MULTIPLE, stride)) if stride > 1 else _MULTIPLE,
            placement=placement,
        )

    def describe(self) -> dict[str, str]:
        """The level, and the version of timm."""
        import timm

        return {"stride_px": str(self.stride), "timm": str(timm.__version__)}

    def features(self, images: NDArray[np.uint8], longer_side_px: int) -> NDArray[np.float32]:
        """Maps (n, channels, rows, columns) of images (n, height, width, 3)."""
        import torch
        from torch.nn.functional import interpolate

        values = torch.from_numpy(images).permute(0, 3, 1, 2).to(self.placement.device)
        size = self.input_size(images.shape[1:3], longer_side_px)
        scaled = interpolate(
            values.float() / 255, size=size, mode="bilinear", align_corners=False, antialias=True
        )
        mean, std = (
            torch.tensor(one, device=self.placement.device)[:, None, None]
            for one in (self.mean, self.std)
        )
        (found,) = self.module(self.placement.move((scaled - mean) / std))
        (channels,) = self.module.feature_info.channels()
        # Some transformers keep their channels last.
        if found.shape[1] != channels and found.shape[-1] == channels:
            found = found.permute(0, 3, 1, 2)
        maps: NDArray[np.float32] = found.float().cpu().numpy()
        return maps

    def input_size(self, shape: tuple[int, ...], longer_side_px: int) -> tuple[int, int]:
        """Height and width that an image has when the network sees it."""
        if self.fixed is not None:
            return self.fixed
        shrink = min(1.0, longer_side_px / max(shape))
        height, width = (
            max(round(side * shrink / self.multiple), 1) * self.multiple for side in shape
        )
        return height, width


def hub_id(architecture: str) -> str:
    """The hub repository of an architecture's weights; raises ConfigError where there is none."""
    import timm

    _check(architecture)
    settings = timm.get_pretrained_cfg(architecture)
    name = settings.hf_hub_id if settings else None
    if not name:
        raise ConfigError(
            f"timm {timm.__version__} knows no weights on the hub for {architecture}",
            hint="--set model.options.weights=FILE, or pretrained=false for random ones",
        )
    return str(name)


def _check(architecture: str) -> None:
    import timm

    if not timm.is_model(architecture):
        raise ConfigError(
            f"timm {timm.__version__} has no architecture {architecture!r}",
            hint=did_you_mean(architecture, timm.list_models()) or "see timm.list_models()",
        )


def _create(architecture: str, **arguments: Any) -> tuple[Any, bool]:
    """A network of feature maps, and whether it takes images of one size only."""
    import timm

    try:
        module = timm.create_model(
            architecture, features_only=True, dynamic_img_size=True, **arguments
        )
        return module, False
    except TypeError:
        # Only transformers have a size to begin with, and know this argument.
        module = timm.create_model(architecture, features_only=True, **arguments)
        return module, bool(timm.get_pretrained_cfg(architecture).fixed_input_size)
