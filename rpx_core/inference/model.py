"""A network of torch as a model of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from rpx_core.adapters import image_size
from rpx_core.contracts import Runtime, Sample
from rpx_core.datasets import cache_directory
from rpx_core.errors import ModelError
from rpx_core.extras import require_extra
from rpx_core.host import Host
from rpx_core.inference.devices import AUTO, Placement, Precision, choose_device, place
from rpx_core.inference.memory import Batches

SETUP_FIRST = "call setup() first: it loads the weights"
"""What to do where a network is asked that is not loaded."""


class TorchOptions(BaseModel):
    """`dtype` is the number format that the network computes in; predictions are float32."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dtype: Precision = "float32"


class Network(Protocol):
    """What differs from network to network; `TorchModel` does the rest."""

    @property
    def module(self) -> Any:
        """The `torch.nn.Module` that holds the weights, once loaded."""
        ...

    def load(self, placement: Placement) -> None:
        """Load the weights onto the device, in evaluation mode."""
        ...

    def answer(self, samples: Sequence[Sample]) -> Sequence[Any]:
        """One prediction per sample, in one forward pass; their images are of one size."""
        ...

    def describe(self) -> dict[str, str]:
        """The weights and the libraries that run them."""
        ...


class TorchModel:
    """Runs a network without gradients, over batches of images of one size.

    Images of different sizes are never padded to each other, so a prediction does not depend on
    which other samples are in the batch, beyond the rounding of the device. A batch that does not
    fit into memory is halved. Where a network draws random numbers, it draws them from the seed.

    `like` is for a model that nobody has resolved by name: the full name of the registered one
    whose libraries it needs, so that `setup()` says how to install them.
    """

    def __init__(
        self,
        network: Network,
        runtime: Runtime,
        options: TorchOptions,
        *,
        name: str = "",
        like: str | None = None,
    ) -> None:
        self.name = name
        self._like = like
        self.task = runtime.task
        self._network = network
        self._runtime = runtime
        self._dtype = options.dtype
        self._placement: Placement | None = None
        self._batches = Batches(self._free)

    @property
    def module(self) -> Any:
        """The `torch.nn.Module`, for counting parameters and operations; None before `setup`."""
        return self._network.module if self._placement else None

    def setup(self) -> None:
        """Load the weights and move them to the device.

        Raises ConfigError with the install command where a library is missing.
        """
        if self._like is not None:
            require_extra(Host.discover().find("model", self._like))
        import torch

        torch.manual_seed(self._runtime.seed)
        device = choose_device(self._runtime.device, uses_torch=True)
        self._placement = place(device, self._dtype)
        self._network.load(self._placement)

    def predict(self, batch: Sequence[Sample]) -> list[Any]:
        """One prediction per sample, in order."""
        import torch

        if self._placement is None:
            raise ModelError("setup() has not been called", hint=SETUP_FIRST)
        predictions: list[Any] = []
        with torch.inference_mode():
            for _, alike in groupby(batch, key=image_size):
                predictions += self._batches.run(list(alike), self._network.answer)
        return predictions

    def synchronize(self) -> None:
        """Wait for the device, so that a clock can be read."""
        if self._placement is not None:
            self._placement.synchronize()

    def describe(self) -> dict[str, str]:
        """Device, number format, versions and weights."""
        if self._placement is None:
            return {}
        described = self._placement.describe()
        return described | self._network.describe() | self._batches.describe()

    def close(self) -> None:
        """Give the device's memory back."""
        self._free()

    def _free(self) -> None:
        if self._placement is not None:
            self._placement.free()


def outside_runtime(task: str, device: str | None) -> Runtime:
    """What a model gets that is built outside of a run, by a function of the published API."""
    return Runtime(device=device or AUTO, seed=0, cache=cache_directory(), task=task)
