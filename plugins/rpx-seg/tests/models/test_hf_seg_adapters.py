"""A segmenter that the user has loaded, between the published adapters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import rpx_core as rpx
from rpx_core.errors import AdapterError, ConfigError
from rpx_core.inference.pretrained import _pillow
from tests.workshop import Workshop, needs_torchvision

KINDS = {
    "mask2former": "AutoModelForUniversalSegmentation",
    "detr_panoptic": "DetrForSegmentation",
    "segformer": "AutoModelForSemanticSegmentation",
    "oneformer": "AutoModelForUniversalSegmentation",
}


def wrap(folder: Path, kind: str, threshold: float) -> rpx.BenchmarkableModel:
    how = _pillow(transformers.__version__)
    loader = "AutoProcessor" if kind == "oneformer" else "AutoImageProcessor"
    processor = getattr(transformers, loader).from_pretrained(folder, **how)
    network = getattr(transformers, KINDS[kind]).from_pretrained(folder).eval()
    return rpx.BenchmarkableModel(
        task=rpx.TaskType.OBJECT_SEGMENTATION,
        input_adapter=rpx.HFInstanceSegInputAdapter(processor=processor, device="cpu"),
        model=network,
        output_adapter=rpx.HFInstanceSegOutputAdapter(processor=processor, threshold=threshold),
        name="mine",
    )


@pytest.mark.parametrize(
    "kind",
    [
        "mask2former",
        "detr_panoptic",
        "segformer",
        pytest.param("oneformer", marks=needs_torchvision),
    ],
)
def test_adapters_answer_as_the_model_of_the_same_checkpoint(workshop: Workshop, kind: str) -> None:
    folder = workshop.checkpoint(kind)
    samples = workshop.samples("object_segmentation", count=2)
    model = wrap(folder, kind, 0.0)
    whole = rpx.make_hf_instance_seg_model(str(folder), device="cpu", threshold=0.0)
    for one in (model, whole):
        one.setup()
    for mine, theirs in zip(model.predict(samples), whole.predict(samples), strict=True):
        assert np.mean(mine.mask == theirs.mask) > 0.99
        assert mine.labels is None
        assert (mine.scores is None) == (theirs.scores is None)


def test_the_runner_takes_the_user_s_own_network(workshop: Workshop) -> None:
    data = rpx.RPXDataset.from_name("demo", task="object_segmentation", limit=2)
    model = wrap(workshop.checkpoint("mask2former"), "mask2former", 0.5)
    assert rpx.BenchmarkRunner(model, data).run().num_samples == 2


class Numbering:
    """A processor that numbers segments from 0."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def post_process_instance_segmentation(
        self, outputs: Any, threshold: float = 0.5, target_sizes: Any = None
    ) -> Any:
        return self.answer


SEGMENTS = torch.tensor([[0.0, 0.0, -1.0], [3.0, 3.0, -1.0]])
INFO = [{"id": 0, "label_id": 1, "score": 0.6}, {"id": 3, "label_id": 0, "score": 0.9}]


def finalize(answer: Any) -> rpx.SegmentationPrediction:
    sample = rpx.Sample("s", np.zeros((2, 3, 3), np.uint8))
    return rpx.HFInstanceSegOutputAdapter(Numbering(answer)).finalize({}, {}, sample)


def test_segment_zero_is_not_the_background() -> None:
    found = finalize([{"segmentation": SEGMENTS, "segments_info": INFO}])
    np.testing.assert_array_equal(found.mask, [[2, 2, 0], [1, 1, 0]])
    assert (found.scores, found.labels) == ({1: 0.9, 2: 0.6}, None)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([], "returned 0 answers; a list of 1"),
        ([None], "a dict with `segmentation` was expected"),
        ([{"segments_info": INFO}], "without `segmentation`"),
        (
            [{"segmentation": None, "segments_info": INFO}],
            r"returned None; a tensor of shape \(2, 3\)",
        ),
        ([{"segmentation": SEGMENTS.T, "segments_info": INFO}], r"shape \(3, 2\); \(2, 3\)"),
        ([{"segmentation": SEGMENTS}], "without `segments_info`"),
        ([{"segmentation": SEGMENTS, "segments_info": [{"id": 0}]}], "without `score`"),
    ],
)
def test_another_answer_of_post_processing_is_an_error(answer: Any, says: str) -> None:
    with pytest.raises(AdapterError, match=rf"Numbering\.post_process_instance.*{says}"):
        finalize(answer)


def test_a_processor_without_segments_is_an_error_of_setup() -> None:
    with pytest.raises(AdapterError, match="object has no post-processing for segments"):
        rpx.HFInstanceSegOutputAdapter(object()).setup()


@pytest.mark.parametrize("threshold", [-0.1, 7, "high"])
def test_a_threshold_is_a_score(threshold: Any) -> None:
    with pytest.raises(ConfigError, match="a number from 0 to 1 was expected"):
        rpx.HFInstanceSegOutputAdapter(object(), threshold=threshold)
