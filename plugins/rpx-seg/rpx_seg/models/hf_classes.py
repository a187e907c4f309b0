"""Semantic segmentation with networks of the `transformers` library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import AdapterError, ModelError, first_few
from rpx_core.inference.devices import Placement
from rpx_core.inference.pretrained import Pretrained, sizes, versions
from rpx_seg.models.hf_networks import HfSegmentationOptions, load_segmenter, prepare
from rpx_seg.types import SemanticPrediction, SemanticQuery


class HfClasses:
    """A segmenter and its processor, whose `post_process_semantic_segmentation` has the word.

    Where the data names its classes, ids are translated by name. Where it does not, they stay the
    checkpoint's own: translate them with the task's option `prediction_map`.
    """

    def __init__(self, options: HfSegmentationOptions) -> None:
        self._options = options
        self._pretrained: Pretrained | None = None

    @property
    def module(self) -> Any:
        """The network."""
        return self._pretrained.module if self._pretrained else None

    def load(self, placement: Placement) -> None:
        """Load processor and network."""
        self._pretrained = load_segmenter(self._options, placement)

    def describe(self) -> dict[str, str]:
        """Checkpoint, classes and version of transformers."""
        return versions(self._options, self._pretrained) if self._pretrained else {}

    def answer(self, samples: Sequence[Sample]) -> list[SemanticPrediction]:
        """The class of every pixel, at the image's size."""
        if self._pretrained is None:
            raise AdapterError("the checkpoint is not loaded")
        outputs = self._pretrained.forward(**prepare(self._pretrained, samples, "semantic"))
        found = self._pretrained.post_process(
            "post_process_semantic_segmentation", outputs, {"target_sizes": sizes(samples)}
        )
        return [
            SemanticPrediction(self._translate(one.cpu().numpy(), sample))
            for one, sample in zip(found, samples, strict=True)
        ]

    def _translate(self, ids: NDArray[Any], sample: Sample) -> NDArray[np.int32]:
        query = sample.query
        wanted = query.classes if isinstance(query, SemanticQuery) else {}
        if not wanted or self._pretrained is None:
            return ids.astype(np.int32)
        renamed = {
            index: self._options.rename(name) for index, name in self._pretrained.labels().items()
        }
        table = translation(renamed, wanted, self._options.rest)
        if all(new == self._options.rest for new in table):
            raise ModelError(
                f"sample {sample.id}: none of the checkpoint's classes is one of the data's: "
                f"{first_few(sorted(renamed.values()))} against "
                f"{first_few(sorted(wanted.values()))}",
                hint='say which is which: --set \'model.options.labels={"dining table" = '
                '"table"}\'',
            )
        answer: NDArray[np.int32] = table[ids]
        return answer


def translation(
    names: Mapping[int, str], wanted: Mapping[int, str], rest: int
) -> NDArray[np.int32]:
    """The id in the data of each class of a checkpoint, by equal names; else `rest`.

    Case, blanks and underscores do not count. Of classes of one name in the data the first counts.
    """
    by_name = {_plain(name): index for index, name in sorted(wanted.items(), reverse=True)}
    table = np.full(max(names, default=0) + 1, rest, np.int32)
    for index, name in names.items():
        table[index] = by_name.get(_plain(name), rest)
    return table


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())
