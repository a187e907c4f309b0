"""Semantic segmentation with networks of the `transformers` library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import ModelError, first_few
from rpx_core.inference.devices import Placement
from rpx_core.inference.pretrained import Pretrained, PretrainedNetwork, list_sizes
from rpx_seg.models.hf_networks import HfSegmentationOptions, load_segmenter, prepare
from rpx_seg.models.segments import read_ids
from rpx_seg.types import SemanticPrediction, SemanticQuery

METHOD = "post_process_semantic_segmentation"


class HfClasses(PretrainedNetwork[HfSegmentationOptions]):
    """A segmenter and its processor, whose `post_process_semantic_segmentation` has the word.

    Where the data names its classes, ids are translated by name. Where it does not, they stay the
    checkpoint's own: translate them with the task's option `prediction_map`.
    """

    def open(self, placement: Placement) -> Pretrained:
        """The class that the checkpoint names."""
        return load_segmenter(self._options, placement)

    def answer(self, samples: Sequence[Sample]) -> list[SemanticPrediction]:
        """The class of every pixel, at the image's size."""
        processor, shapes = self.pretrained.processor, list_sizes(samples)
        outputs = self.pretrained.forward(**prepare(processor, samples, "semantic"))
        found = self.pretrained.post_process(METHOD, outputs, {"target_sizes": shapes})
        who = f"{type(processor).__name__}.{METHOD}()"
        return [
            SemanticPrediction(self._translate(read_ids(one, shape, who), sample))
            for one, shape, sample in zip(found, shapes, samples, strict=True)
        ]

    def _translate(self, ids: NDArray[Any], sample: Sample) -> NDArray[np.int32]:
        query = sample.query
        wanted = query.classes if isinstance(query, SemanticQuery) else {}
        if not wanted:
            return ids.astype(np.int32)
        renamed = {
            index: self._options.rename(name) for index, name in self.pretrained.labels().items()
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
