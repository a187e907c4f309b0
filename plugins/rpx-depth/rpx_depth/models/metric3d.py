"""Metric3D V2: metric depth in a canonical camera, by its authors' own code through torch.hub."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rpx_core.checkpoints import resolve_commit
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError, ConfigError, ModelError, kind_of
from rpx_core.inference.devices import Placement
from rpx_core.inference.loading import refuse_random_weights
from rpx_core.inference.model import SETUP_FIRST, TorchModel, TorchOptions
from rpx_depth.letterbox import CANVAS, fit, paint
from rpx_depth.models.maps import Expected
from rpx_depth.types import DepthPrediction

if TYPE_CHECKING:
    import torch

REPOSITORY = "YvanYin/Metric3D"
COMMIT = "0dabc1958901c6d21f2ea1af12c62da5e64b4d64"
"""The authors' code that this adapter was written for."""
WEIGHTS = "JUGGHM/Metric3D"
"""Where on the hub their weights are."""
FARTHEST_M = 300.0
"""Where the authors cut the depth off."""

_MADE_BY_CODE = {"depth_expectation_anchor"}
"""What no file of weights needs to hold: the authors' code computes it."""

_Entry = Literal["metric3d_vit_small", "metric3d_vit_large", "metric3d_vit_giant2"]
_FILES = {
    "metric3d_vit_small": "metric_depth_vit_small_800k.pth",
    "metric3d_vit_large": "metric_depth_vit_large_800k.pth",
    "metric3d_vit_giant2": "metric_depth_vit_giant2_800k.pth",
}


class Metric3dOptions(TorchOptions):
    """Which network, and where its code and weights come from.

    `code` is a folder with the authors' repository; without one torch.hub fetches its `commit`.
    `weights` is their `.pth` file; without one it is fetched from the hub at `revision`. torch.hub
    runs the code that it fetches. `focal_px` is for samples without intrinsics.
    """

    entry: _Entry = "metric3d_vit_large"
    code: Path | None = None
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] = COMMIT
    weights: Path | None = None
    revision: str | None = None
    focal_px: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None

    def pinned(self) -> Self:
        """The same with the commit of the weights, or without where they are a file."""
        if self.weights is not None:
            if self.revision is not None:
                raise ConfigError(
                    "model.options: a file of weights has no revision",
                    hint="leave the revision out: a file counts by its content",
                )
            return self
        return self.model_copy(update={"revision": resolve_commit(WEIGHTS, self.revision)})


class Metric3d:
    """Letterboxes images into 616x1064, and turns canonical depth into metres.

    A camera of focal length 1000 px would see the canvas as it is; depth from another is
    `f · scale / 1000` of what the network says, with the horizontal focal length of the image.
    """

    def __init__(self, options: Metric3dOptions) -> None:
        self._options = options
        self._placement: Placement | None = None
        self.module: Any = None

    def load(self, placement: Placement) -> None:
        """Load code and weights."""
        import torch

        options = self._options
        source = "local" if options.code else "github"
        repository = str(options.code) if options.code else f"{REPOSITORY}:{options.commit}"
        network = torch.hub.load(
            repository,
            options.entry,
            source=source,
            pretrain=False,
            trust_repo=True,
            # torch.hub accepts only the heads of branches otherwise.
            skip_validation=True,
        )
        weights = self._weights()
        state = torch.load(weights, map_location="cpu", weights_only=True)
        _fill(network, state.get("model_state_dict", state), weights)
        self.module = network.to(placement.device, placement.torch_dtype).eval()
        _lay_out_depths(self.module, placement)
        self._placement = placement

    def describe(self) -> dict[str, str]:
        """The network, its code and its weights."""
        options = self._options
        weights = options.weights.name if options.weights else f"{WEIGHTS}@{options.revision}"
        code = options.code.name if options.code else f"{REPOSITORY}@{options.commit}"
        return {"network": options.entry, "code": code, "checkpoint": weights}

    def answer(self, samples: Sequence[Sample]) -> list[DepthPrediction]:
        """One map per image, of the image's size, in metres."""
        import torch
        from torch.nn.functional import interpolate

        if self._placement is None:
            raise AdapterError("the checkpoint is not loaded", hint=SETUP_FIRST)
        boxes = [fit(rgb.shape[:2]) for rgb in (_image(sample) for sample in samples)]
        factors = [box.to_metres(self._focal(one)) for box, one in zip(boxes, samples, strict=True)]
        canvases = np.stack([paint(_image(s), box) for s, box in zip(samples, boxes, strict=True)])
        answer = self.module.inference({"input": self._placement.move(torch.from_numpy(canvases))})
        canonical = self._read(answer, len(samples))
        predictions = []
        for depth, box, factor in zip(canonical, boxes, factors, strict=True):
            inner = torch.from_numpy(box.crop(depth.cpu().numpy()).copy())[None, None]
            whole = interpolate(inner, box.shape, mode="bilinear", align_corners=False)[0, 0]
            metres = np.clip(whole.numpy() * np.float32(factor), 0, np.float32(FARTHEST_M))
            predictions.append(DepthPrediction(metres))
        return predictions

    def _read(self, answer: Any, count: int) -> list[torch.Tensor]:
        """Canonical depth of each canvas, of what `inference` returned."""
        who = f"{type(self.module).__name__}.inference()"
        if not isinstance(answer, tuple) or not answer:
            raise AdapterError(
                f"{who} returned {kind_of(answer)}; (depth, confidence, outputs) was expected"
            )
        return Expected(count, CANVAS, "exact").read(answer[0], who)

    def _weights(self) -> Path:
        options = self._options
        if options.weights is not None:
            return options.weights
        from huggingface_hub import hf_hub_download

        return Path(hf_hub_download(WEIGHTS, _FILES[options.entry], revision=options.revision))

    def _focal(self, sample: Sample) -> float:
        if sample.intrinsics is not None:
            return float(sample.intrinsics[0, 0])
        if self._options.focal_px is None:
            raise ModelError(
                f"sample {sample.id}: has no intrinsics; without a focal length there are no "
                "metres",
                hint="list `intrinsics` in the manifest, or --set model.options.focal_px=605",
            )
        return self._options.focal_px


def _image(sample: Sample) -> NDArray[np.uint8]:
    if sample.rgb is None:
        raise ModelError(
            f"sample {sample.id}: has no image",
            hint="list `rgb` in the manifest, or give the sample an `rgb`",
        )
    return sample.rgb


def _fill(network: Any, state: Mapping[str, Any], file: Path) -> None:
    """Give the network its weights; raises ModelError where any is missing or of another shape.

    What the file holds beyond them is left alone: its authors' training saved more.
    """
    wanted = network.state_dict()
    report = {
        "missing_keys": [
            name
            for name in wanted.keys() - state.keys()
            if name.rpartition(".")[2] not in _MADE_BY_CODE
        ],
        "mismatched_keys": [
            (name, state[name].shape, value.shape)
            for name, value in wanted.items()
            if name in state and state[name].shape != value.shape
        ],
    }
    refuse_random_weights(
        str(file),
        type(network).__name__,
        report,
        hint="model.options.entry and model.options.weights must fit together",
    )
    network.load_state_dict(state, strict=False)


def _lay_out_depths(network: Any, placement: Placement) -> None:
    """Give decoders the table of depths that they would otherwise make with the first batch.

    Their own code makes it on cuda, wherever the network is, and for as many images as that batch
    has; more in a later one would be an error. A table for one image serves any number.
    """
    import torch

    for module in network.modules():
        if not hasattr(module, "register_depth_expectation_anchor"):
            continue
        nearest, farthest = math.log(module.min_val), math.log(module.max_val)
        depths = torch.linspace(nearest, farthest, module.num_depth_regressor_anchor).exp()
        table = placement.move(depths[None])
        module.register_buffer("depth_expectation_anchor", table, persistent=False)


def load(options: Metric3dOptions, runtime: Runtime) -> TorchModel:
    """The model, on the device of the run."""
    return TorchModel(Metric3d(options), runtime, options)
