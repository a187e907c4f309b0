"""Loading segmentation networks of the `transformers` library, whatever their family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from rpx_core.contracts import Sample
from rpx_core.errors import ModelError
from rpx_core.inference.devices import Placement
from rpx_core.inference.pretrained import (
    Classes,
    Pretrained,
    PretrainedOptions,
    copy_images,
    load_pretrained,
    read_config,
)
from rpx_core.inference.processors import known_arguments
from rpx_core.inference.purpose import known_classes, other_purpose

Hint = Literal["instance", "universal", "semantic"]

_BY_HINT = {
    "instance": "AutoModelForInstanceSegmentation",
    "universal": "AutoModelForUniversalSegmentation",
    "semantic": "AutoModelForSemanticSegmentation",
}
_INSTANCE, SEMANTIC = ("object_segmentation",), ("semantic_segmentation",)
_BY_ENDING = {
    "ForSemanticSegmentation": SEMANTIC,
    "ForUniversalSegmentation": (*_INSTANCE, *SEMANTIC),
    "ForInstanceSegmentation": (*_INSTANCE, *SEMANTIC),
    "ForSegmentation": _INSTANCE,
}
"""What the class that a checkpoint names can do; the first ending that fits counts."""
_WITH_TEXT = ("oneformer",)
"""Kinds of networks that are told in words which task is meant."""


class HfSegmentationOptions(PretrainedOptions):
    """Which checkpoint, and what its classes are called in the data.

    `labels` renames classes of the checkpoint: `{"dining table" = "table"}`. `model_class_hint`
    names the family of the network where its configuration does not.

    For instances, `threshold` is the least score of a segment, from 0 to 1; lower it for average
    precision. For classes, those of equal names are the same, whatever their case; a pixel whose
    class has no name in the data gets the id `rest`, 255 by default, which abstains.
    """

    # The published name begins like pydantic's own methods, which older versions warn about.
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    labels: dict[str, str] = Field(default_factory=dict)
    model_class_hint: Hint | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    rest: Annotated[int, Field(ge=0, le=65535)] = 255

    def rename(self, label: str) -> str:
        """What a class of the checkpoint is called in the data."""
        return self.labels.get(label, label)


def load_segmenter(options: HfSegmentationOptions, placement: Placement) -> Pretrained:
    """Processor and network of a checkpoint, with the class that it names or the hint means.

    Raises ModelError where neither is there, and AdapterError for a network of another task, before
    its weights are loaded.
    """
    import transformers

    config = read_config(options)
    named = known_classes(config)
    hint = options.model_class_hint
    if hint is None and not named:
        raise ModelError(
            f"{options.located()} names no network class of transformers "
            f"{transformers.__version__}",
            hint="say which family it is: --set model.options.model_class_hint=universal (or "
            "instance, semantic)",
        )
    if hint is None and not tasks_of(named):
        raise other_purpose(options, named, "finds no segments")
    network = named[0] if hint is None else _BY_HINT[hint]
    needs_text = config.model_type in _WITH_TEXT
    classes = Classes(network, "AutoProcessor" if needs_text else "AutoImageProcessor")
    return load_pretrained(options, classes, placement)


def tasks_of(names: Sequence[str]) -> tuple[str, ...]:
    """What networks of these classes of transformers can do here; nothing for those of others."""
    for name in names:
        for ending, does in _BY_ENDING.items():
            if name.endswith(ending):
                return does
    return ()


def prepare(processor: Any, samples: Sequence[Sample], task: str) -> Mapping[str, Any]:
    """What a processor makes of the samples; one that puts the task into words is told it."""
    given: dict[str, Any] = {"images": copy_images(samples), "return_tensors": "pt"}
    words = known_arguments(type(processor).__call__, {"task_inputs": [task] * len(samples)})
    inputs: Mapping[str, Any] = processor(**given, **words)
    return inputs
