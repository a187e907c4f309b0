"""Networks and processors of the `transformers` library, from a folder or the hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.adapters import image_copy, image_size
from rpx_core.checkpoint_files import check_folder, check_processor
from rpx_core.checkpoints import CheckpointOptions
from rpx_core.contracts import Sample
from rpx_core.errors import AdapterError, ModelError
from rpx_core.inference.devices import Placement
from rpx_core.inference.loading import (
    first_line,
    list_errors,
    refuse_random_weights,
    silence_loading,
)
from rpx_core.inference.model import SETUP_FIRST, TorchOptions
from rpx_core.inference.processors import in_full_precision, post_process
from rpx_core.inference.purpose import check_purpose


class PretrainedOptions(CheckpointOptions, TorchOptions):
    """Which checkpoint, at which revision, in which number format.

    Only weights and settings are loaded, never code that comes with them.
    """


Options = TypeVar("Options", bound=CheckpointOptions)


@dataclass(frozen=True)
class Pretrained:
    """A processor and a network of one checkpoint, ready on its device."""

    processor: Any
    module: Any
    placement: Placement

    def forward(self, **inputs: Any) -> Any:
        """What the network answers to what a processor made; numbers are float32 from here on."""
        return in_full_precision(self.module(**self.placement.move(inputs)))

    def post_process(self, name: str, outputs: Any, arguments: Mapping[str, Any]) -> Sequence[Any]:
        """What `rpx_core.inference.processors.post_process` says, of this processor."""
        return post_process(self.processor, name, outputs, arguments)

    def label(self, index: int) -> str:
        """The name of a class, as the checkpoint's `id2label` has it."""
        names: Mapping[int, str] = self.module.config.id2label or {}
        return str(names.get(int(index), index))

    def labels(self) -> dict[int, str]:
        """All of these names."""
        names: Mapping[int, str] = self.module.config.id2label or {}
        return {int(index): str(name) for index, name in names.items()}


@dataclass(frozen=True)
class Classes:
    """Names of the classes in `transformers` that load a checkpoint.

    With `lacks`, what checkpoints of other classes do not do ("estimates no depth"), those are
    refused before they are loaded.
    """

    network: str
    processor: str = "AutoImageProcessor"
    lacks: str | None = None


class PretrainedNetwork(Generic[Options]):
    """What every network of a checkpoint shares: it is loaded once, and says what it is.

    A subclass says of which `classes` it is, or overrides `open`, and adds `answer`.
    """

    classes: ClassVar[Classes | None] = None

    def __init__(self, options: Options) -> None:
        self._options = options
        self._pretrained: Pretrained | None = None

    @property
    def module(self) -> Any:
        """The network, once loaded."""
        return self._pretrained.module if self._pretrained else None

    @property
    def pretrained(self) -> Pretrained:
        """Processor and network; raises AdapterError before they are loaded."""
        if self._pretrained is None:
            raise AdapterError("the checkpoint is not loaded", hint=SETUP_FIRST)
        return self._pretrained

    def open(self, placement: Placement) -> Pretrained:
        """Processor and network of the checkpoint."""
        if self.classes is None:
            raise AdapterError(
                f"{type(self).__name__} does not say which classes it needs",
                hint="set its `classes`, or override open()",
            )
        if self.classes.lacks is not None:
            config = read_config(self._options)
            check_purpose(self._options, config, self.classes.network, self.classes.lacks)
        return load_pretrained(self._options, self.classes, placement)

    def load(self, placement: Placement) -> None:
        """Load processor and network."""
        self._pretrained = self.open(placement)

    def describe(self) -> dict[str, str]:
        """Checkpoint, classes and version of transformers."""
        return describe_checkpoint(self._options, self._pretrained) if self._pretrained else {}


def read_config(options: CheckpointOptions) -> Any:
    """The configuration of a checkpoint; raises ModelError where transformers knows none."""
    import transformers

    check_checkpoint(options)
    source, arguments = locate(options)
    try:
        with silence_loading():
            return transformers.AutoConfig.from_pretrained(
                source, trust_remote_code=False, **arguments
            )
    except list_errors() as error:
        raise ModelError(
            f"{options.located()} has no configuration that transformers "
            f"{transformers.__version__} knows: {first_line(error)}",
            hint="config.json may be damaged, or of a newer transformers",
        ) from error


def load_pretrained(
    options: CheckpointOptions, classes: Classes, placement: Placement
) -> Pretrained:
    """The processor and the network of a checkpoint; raises ModelError where they do not load."""
    import transformers

    check_checkpoint(options)
    if isinstance(options.checkpoint, Path):
        check_processor(options.checkpoint)
    source, arguments = locate(options)
    try:
        with silence_loading():
            processor = getattr(transformers, classes.processor).from_pretrained(
                source,
                trust_remote_code=False,
                **_pillow(transformers.__version__),
                **arguments,
            )
            # Weights of another shape come with the report, and are refused below by name.
            network, report = getattr(transformers, classes.network).from_pretrained(
                source,
                trust_remote_code=False,
                output_loading_info=True,
                ignore_mismatched_sizes=True,
                **arguments,
            )
    except UnpicklingError as error:
        # Its own text advises to load it with code and all.
        raise ModelError(
            f"{options.located()}: its weights are a pickle file that holds more than tensors: "
            "refused, for reading it may run code",
            hint="ask its author for safetensors, as save_pretrained() writes them",
        ) from error
    except list_errors() as error:
        raise ModelError(
            f"{options.located()} cannot be loaded with {classes.network} of transformers "
            f"{transformers.__version__}: {first_line(error)}",
            hint="the checkpoint may be for another task, damaged, or need a newer transformers",
        ) from error
    refuse_random_weights(options.located(), type(network).__name__, report)
    module = network.to(placement.device, placement.torch_dtype).eval()
    return Pretrained(processor, module, placement)


def check_checkpoint(options: CheckpointOptions) -> None:
    """Raise ModelError for a folder that is no whole checkpoint."""
    if isinstance(options.checkpoint, Path):
        check_folder(options.checkpoint)


def _pillow(version: str) -> dict[str, Any]:
    """Processors resize with Pillow, as those did with which most checkpoints were published.

    With torchvision installed the default is another backend, with other pixels.
    """
    return {"backend": "pil"} if int(version.partition(".")[0]) >= 5 else {"use_fast": False}


def locate(options: CheckpointOptions) -> tuple[str, dict[str, str]]:
    """Where `from_pretrained` finds a checkpoint: its source and further arguments."""
    if isinstance(options.checkpoint, Path) or options.revision is None:
        return str(options.checkpoint), {}
    return options.checkpoint, {"revision": options.revision}


def copy_images(samples: Sequence[Sample]) -> list[NDArray[np.uint8]]:
    """Images that a processor may write to; raises AdapterError where a sample has none."""
    return [image_copy(sample) for sample in samples]


def list_sizes(samples: Sequence[Sample]) -> list[tuple[int, int]]:
    """Height and width of each sample's image; raises ModelError where one has none."""
    return [image_size(sample) for sample in samples]


def describe_checkpoint(options: CheckpointOptions, pretrained: Pretrained) -> dict[str, str]:
    """What a record should say of a checkpoint and what runs it."""
    import transformers

    return {
        "checkpoint": options.described(),
        "network": type(pretrained.module).__name__,
        "processor": type(pretrained.processor).__name__,
        "transformers": str(transformers.__version__),
    }
