"""Detection and grounding with networks of `transformers` that are told in words what to find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import ModelError
from rpx_core.inference.pretrained import (
    Classes,
    PretrainedNetwork,
    copy_images,
    list_sizes,
)
from rpx_detection.models.hf_detector import numbers, surest
from rpx_detection.models.hf_options import HfDetectionOptions
from rpx_detection.models.phrase_tokens import join, score_phrases, split
from rpx_detection.types import (
    DetectionPrediction,
    DetectionQuery,
    GroundingQuery,
    VisualGroundingPrediction,
)

Prompts = tuple[str, ...]

_ONE_SENTENCE = ("grounding-dino", "mm-grounding-dino")
"""Kinds that read all prompts as one sentence and score its words."""


@dataclass(frozen=True, eq=False)
class Found:
    """Boxes (n, 4) in xyxy pixels, their scores, and which prompt each answers."""

    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    prompts: NDArray[np.intp]

    def take(self, kept: NDArray[np.intp]) -> Found:
        """Some of them, in the order given."""
        return Found(self.boxes[kept], self.scores[kept], self.prompts[kept])


class Prompted(PretrainedNetwork[HfDetectionOptions]):
    """A network that finds what texts describe, in images of one size."""

    classes = Classes(
        "AutoModelForZeroShotObjectDetection", "AutoProcessor", "finds nothing by words"
    )

    def find(self, samples: Sequence[Sample], prompts: Prompts) -> list[Found]:
        """What answers the prompts in each image, the surest first."""
        if self.pretrained.module.config.model_type in _ONE_SENTENCE:
            limit = int(self.pretrained.module.config.max_text_len)
            parts = split(prompts, self.pretrained.processor.tokenizer, limit)
            found = [self._find_in_sentence(samples, part) for part in parts]
            joined = [_join(one, parts) for one in zip(*found, strict=True)]
        else:
            joined = self._find_by_prompt(samples, prompts)
        options = self._options
        above = [one.take(np.flatnonzero(one.scores > options.threshold)) for one in joined]
        return [one.take(surest(one.scores, options.most_boxes)) for one in above]

    def _find_by_prompt(self, samples: Sequence[Sample], prompts: Prompts) -> list[Found]:
        """As the processor's own post-processing has it: OWL-ViT, OWLv2, OmDet-Turbo."""
        pretrained = self.pretrained
        texts = [list(prompts)] * len(samples)
        inputs = pretrained.processor(
            text=texts, images=copy_images(samples), return_tensors="pt", truncation=True
        )
        arguments = {
            "threshold": self._options.threshold,
            "target_sizes": list_sizes(samples),
            "text_labels": texts,
        }
        answers = pretrained.post_process(
            "post_process_grounded_object_detection", pretrained.forward(**inputs), arguments
        )
        return [_read(one, prompts) for one in answers]

    def _find_in_sentence(self, samples: Sequence[Sample], prompts: Prompts) -> list[Found]:
        """By the words of each prompt: the post-processing would answer with parts of prompts."""
        pretrained = self.pretrained
        inputs = pretrained.processor(
            text=[join(prompts)] * len(samples), images=copy_images(samples), return_tensors="pt"
        )
        outputs = pretrained.forward(**inputs)
        stop = pretrained.processor.tokenizer.convert_tokens_to_ids(".")
        scores = score_phrases(
            numbers(outputs.logits), inputs["input_ids"][0].tolist(), stop, len(prompts)
        )
        found = []
        for one, boxes, (height, width) in zip(
            scores, numbers(outputs.pred_boxes), list_sizes(samples), strict=True
        ):
            corners = _corners(boxes) * np.array([width, height, width, height])
            best = one.argmax(axis=1)
            found.append(Found(corners, one[np.arange(len(one)), best], best))
        return found


class HfOpenVocab(Prompted):
    """Detects the classes of the query's vocabulary, and answers in its words."""

    def answer(self, samples: Sequence[Sample]) -> list[DetectionPrediction]:
        """The surest boxes of each image; raises ModelError where no vocabulary is given."""
        predictions: list[DetectionPrediction] = []
        for vocabulary, alike in groupby(samples, key=_vocabulary):
            prompts = tuple(self._options.prompt.format(name) for name in vocabulary)
            for found in self.find(list(alike), prompts):
                labels = tuple(vocabulary[index] for index in found.prompts)
                predictions.append(DetectionPrediction(found.boxes, found.scores, labels))
        return predictions


class HfGrounder(Prompted):
    """Answers an expression with boxes; the surest is the answer."""

    def answer(self, samples: Sequence[Sample]) -> list[VisualGroundingPrediction]:
        """Boxes for the expression of each sample."""
        predictions: list[VisualGroundingPrediction] = []
        for text, alike in groupby(samples, key=_expression):
            predictions += [
                VisualGroundingPrediction(found.boxes, found.scores)
                for found in self.find(list(alike), (text,))
            ]
        return predictions


def _vocabulary(sample: Sample) -> Prompts:
    query = sample.query
    if not isinstance(query, DetectionQuery) or not query.vocabulary:
        raise ModelError(
            f"sample {sample.id}: no vocabulary says what to look for",
            hint='--set options.vocabulary=\'["mug", "box"]\', or list it in the manifest',
        )
    return query.vocabulary


def _expression(sample: Sample) -> str:
    if not isinstance(sample.query, GroundingQuery):
        raise ModelError(f"sample {sample.id}: an expression was expected as the query")
    return sample.query.text


def _read(answer: Mapping[str, Any], prompts: Prompts) -> Found:
    labels = answer["labels"]
    if hasattr(labels, "tolist"):
        indices = [int(index) for index in labels.tolist()]
    else:
        indices = [prompts.index(name) for name in answer["text_labels"]]
    boxes, scores = numbers(answer["boxes"]).reshape(-1, 4), numbers(answer["scores"])
    return Found(boxes, scores, np.array(indices, np.intp))


def _join(found: Sequence[Found], parts: Sequence[Prompts]) -> Found:
    """What several sentences found, with prompts numbered through."""
    starts = np.cumsum([0, *(len(part) for part in parts)])
    return Found(
        np.concatenate([one.boxes for one in found]),
        np.concatenate([one.scores for one in found]),
        np.concatenate([one.prompts + start for one, start in zip(found, starts, strict=False)]),
    )


def _corners(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Corners (n, 4) of boxes given as centre and size."""
    centre, size = boxes[:, :2], boxes[:, 2:]
    return np.concatenate([centre - size / 2, centre + size / 2], axis=1)
