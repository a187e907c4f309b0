"""What can be set for detectors of the `transformers` library."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from rpx_core.inference.pretrained import PretrainedOptions


class HfDetectionOptions(PretrainedOptions):
    """Which checkpoint, which boxes count, and what classes are called.

    Boxes with a score above `threshold` are kept, at most the `most_boxes` surest of an image. By
    default that is all of them: average precision needs the unsure ones, and F1 has a threshold of
    its own. `labels` renames classes of the checkpoint: `{"cup" = "mug"}`. `prompt` is how a class
    of the vocabulary is put to a network that reads text, such as "a photo of a {}" for OWLv2.
    """

    threshold: Annotated[float, Field(ge=0, le=1)] = 0.0
    most_boxes: Annotated[int, Field(ge=1, le=10_000)] = 100
    labels: dict[str, str] = Field(default_factory=dict)
    prompt: str = "{}"

    @field_validator("prompt")
    @classmethod
    def _one_place(cls, value: str) -> str:
        if value.count("{}") != 1 or set("{}") & set(value.replace("{}", "")):
            raise ValueError("one {} stands for the class, and there are no other braces")
        return value
