"""Segmenters of transformers, from a folder to a report; ids never collide with the background."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import rpx_core as rpx
from rpx_core.errors import AdapterError, ConfigError, ModelError
from rpx_core.inference.devices import Placement
from rpx_core.inference.pretrained import Pretrained
from rpx_core.lifecycle import DEFAULT_REPORTERS, Request
from rpx_seg.models.hf import load
from rpx_seg.models.hf_instances import HfInstances
from rpx_seg.models.hf_networks import HfSegmentationOptions
from tests.workshop import Workshop, needs_torchvision, runtime

INSTANCE = (
    "mask2former",
    "maskformer",
    "detr_panoptic",
    pytest.param("oneformer", marks=needs_torchvision),
)
SEMANTIC = ("segformer", "mask2former", "maskformer", "oneformer")


def build(workshop: Workshop, kind: str, task: str, **options: Any) -> Any:
    chosen = HfSegmentationOptions(checkpoint=workshop.checkpoint(kind), **options)
    model = load(chosen, runtime(task))
    model.setup()
    return model


@pytest.mark.parametrize(
    ("kind", "task"),
    [
        *((kind, "object_segmentation") for kind in ("mask2former", "maskformer", "detr_panoptic")),
        *((kind, "semantic_segmentation") for kind in SEMANTIC),
        pytest.param("oneformer", "object_segmentation", marks=needs_torchvision),
    ],
)
def test_a_folder_becomes_a_whole_report(workshop: Workshop, kind: str, task: str) -> None:
    model = {"name": f"hf:{workshop.checkpoint(kind)}", "options": {"threshold": 0.0}}
    outcome = workshop.run(model, Request(reporters=DEFAULT_REPORTERS), task=task)
    assert outcome.report.status.failed_samples == 0
    assert outcome.report.run.model == f"rpx-seg/hf:{kind}"
    assert {path.name for path in outcome.written} >= {"summary.md", "report.html"}


@pytest.mark.parametrize(
    ("kind", "task"),
    [("segformer", "semantic_segmentation"), ("detr_panoptic", "object_segmentation")],
)
def test_a_checkpoint_of_one_task_needs_no_task(workshop: Workshop, kind: str, task: str) -> None:
    assert workshop.plan(f"hf:{workshop.checkpoint(kind)}").record.task == f"rpx-seg/{task}"


@pytest.mark.parametrize("kind", INSTANCE)
def test_segments_are_numbered_from_one_with_scores_and_names(
    workshop: Workshop, kind: str
) -> None:
    model = build(workshop, kind, "object_segmentation", threshold=0.0)
    for sample, found in zip(
        workshop.samples("object_segmentation", count=2),
        model.predict(workshop.samples("object_segmentation", count=2)),
        strict=True,
    ):
        assert found.mask.shape == sample.rgb.shape[:2]
        assert found.mask.min() >= 0
        ids = sorted(found.scores)
        assert ids == list(range(1, len(ids) + 1))
        assert set(np.unique(found.mask)) <= {0, *ids}
        assert [found.scores[i] for i in ids] == sorted(found.scores.values(), reverse=True)
        assert set(found.labels.values()) <= {"table", "wall", "floor", "mug"}


@pytest.mark.parametrize(
    ("kind", "task"),
    [("mask2former", "object_segmentation"), ("segformer", "semantic_segmentation")],
)
def test_predictions_do_not_depend_on_the_batch(workshop: Workshop, kind: str, task: str) -> None:
    samples = workshop.samples(task, count=5)
    model = build(workshop, kind, task, threshold=0.0)
    together = [one.mask for one in model.predict(samples)]
    alone = [model.predict([sample])[0].mask for sample in samples]
    # Where two classes are all but equally likely, rounding may decide.
    assert np.mean(np.array(together) == np.array(alone)) > 0.99


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_number_formats_are_interpreted_in_full_precision(
    workshop: Workshop, dtype: str
) -> None:
    samples = workshop.samples("semantic_segmentation", count=2)
    exact = build(workshop, "segformer", "semantic_segmentation").predict(samples)
    short = build(workshop, "segformer", "semantic_segmentation", dtype=dtype).predict(samples)
    for one, other in zip(exact, short, strict=True):
        assert np.mean(one.mask == other.mask) > 0.9


class Processor:
    """A processor whose segments are numbered from 0, beside -1 for the rest."""

    def post_process_instance_segmentation(
        self, outputs: Any, threshold: float = 0.5, target_sizes: Any = None
    ) -> Any:
        self.got = (threshold, target_sizes)
        return outputs


class Panoptic:
    def post_process_panoptic_segmentation(self, outputs: Any, target_sizes: Any = None) -> Any:
        return outputs


class Semantic:
    def post_process_semantic_segmentation(self, outputs: Any, target_sizes: Any = None) -> Any:
        return outputs


def answer(processor: Any, outputs: Any, **options: Any) -> Any:
    """What is made of these outputs of a network."""

    class Network:
        config = SimpleNamespace(id2label={0: "mug", 1: "table"}, model_type="any")

        def __call__(self, **inputs: Any) -> Any:
            return outputs

    class Whole(type(processor)):  # type: ignore[misc]
        def __call__(self, **given: Any) -> Any:
            return {}

    processor.__class__ = Whole
    instances = HfInstances(HfSegmentationOptions(checkpoint="a/b", **options))
    instances._pretrained = Pretrained(processor, Network(), Placement("cpu"))
    (found,) = instances.answer([rpx.Sample(id="s", rgb=np.zeros((2, 3, 3), np.uint8))])
    return found


def test_segment_zero_is_not_the_background() -> None:
    segmentation = torch.tensor([[0.0, 0.0, -1.0], [3.0, 3.0, -1.0]])
    segments = [
        {"id": 0, "label_id": 1, "score": 0.6, "was_fused": False},
        {"id": 3, "label_id": 0, "score": 0.9, "was_fused": False},
    ]
    processor = Processor()
    outputs = [{"segmentation": segmentation, "segments_info": segments}]
    found = answer(processor, outputs, threshold=0.3, labels={"mug": "cup"})
    np.testing.assert_array_equal(found.mask, [[2, 2, 0], [1, 1, 0]])
    assert found.scores == {1: 0.9, 2: 0.6}
    assert found.labels == {1: "cup", 2: "table"}
    assert processor.got == (0.3, [(2, 3)])


def test_an_image_without_segments_is_background() -> None:
    outputs = [{"segmentation": torch.full((2, 3), -1.0), "segments_info": []}]
    found = answer(Panoptic(), outputs)
    assert not found.mask.any()
    assert found.scores == {}


def test_classes_become_segments_without_scores_and_class_zero_is_one_of_them() -> None:
    found = answer(Semantic(), [torch.tensor([[0, 0, 1], [1, 1, 1]])])
    np.testing.assert_array_equal(found.mask, [[1, 1, 2], [2, 2, 2]])
    assert found.scores is None
    assert found.labels == {1: "mug", 2: "table"}


def test_instances_come_before_panoptic_segments_and_those_before_classes() -> None:
    class Everything(Semantic, Panoptic, Processor):
        pass

    outputs = [{"segmentation": torch.zeros(2, 3), "segments_info": []}]
    processor = Everything()
    answer(processor, outputs)
    assert processor.got[0] == 0.5


def test_a_processor_without_segments_is_an_adapter_error() -> None:
    class Nothing:
        pass

    with pytest.raises(AdapterError, match="has no post-processing for segments"):
        answer(Nothing(), None)


def test_classes_of_the_checkpoint_are_translated_by_name(workshop: Workshop) -> None:
    samples = workshop.samples("semantic_segmentation", count=1)
    wanted = samples[0].query.classes
    model = build(workshop, "segformer", "semantic_segmentation")
    (found,) = model.predict(samples)
    assert set(np.unique(found.mask)) <= {*wanted, 255}
    nothing = {name: "elsewhere" for name in ("table", "wall", "floor", "mug")}
    with pytest.raises(ModelError, match="none of the checkpoint's classes is one of the data's"):
        build(workshop, "segformer", "semantic_segmentation", labels=nothing).predict(samples)


def test_the_published_function_gives_a_model(workshop: Workshop) -> None:
    folder = str(workshop.checkpoint("mask2former"))
    model = rpx.make_hf_instance_seg_model(folder, device="cpu", threshold=0.0)
    model.setup()
    (found,) = model.predict(workshop.samples("object_segmentation", count=1))
    assert isinstance(found, rpx.SegmentationPrediction)
    assert (model.task, model.name) == ("object_segmentation", "mask2former")
    with pytest.raises(ConfigError, match="threshold"):
        rpx.make_hf_instance_seg_model(folder, device="cpu", threshold=7)


@pytest.mark.parametrize("hint", ["universal", "instance"])
def test_a_hint_names_the_family_of_the_network(workshop: Workshop, hint: Any) -> None:
    folder = str(workshop.checkpoint("maskformer"))
    model = rpx.make_hf_instance_seg_model(folder, device="cpu", model_class_hint=hint)
    model.setup()
    assert model.describe()["network"] == "MaskFormerForInstanceSegmentation"


def test_a_wrong_hint_is_refused(workshop: Workshop) -> None:
    folder = str(workshop.checkpoint("mask2former"))
    model = rpx.make_hf_instance_seg_model(folder, device="cpu", model_class_hint="semantic")
    with pytest.raises(ModelError, match="cannot be loaded with AutoModelForSemanticSegmentation"):
        model.setup()


@pytest.mark.parametrize(
    ("kind", "network", "task"),
    [
        ("yolos", "YolosForObjectDetection", "object_detection"),
        ("dpt", "DPTForDepthEstimation", "monocular_depth"),
    ],
)
def test_a_checkpoint_of_another_task_is_refused_before_it_is_loaded(
    workshop: Workshop, kind: str, network: str, task: str
) -> None:
    model = rpx.make_hf_instance_seg_model(str(workshop.checkpoint(kind)), device="cpu")
    with pytest.raises(AdapterError, match=f"{kind} is a {network}, which finds no seg") as caught:
        model.setup()
    assert f"--task {task}" in str(caught.value.hint)
