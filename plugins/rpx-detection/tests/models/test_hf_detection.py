"""Detectors of transformers, from a folder to a report, with fixed classes and with words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rpx_core as rpx
from rpx_core.contracts import Sample
from rpx_core.errors import ConfigError, ModelError
from rpx_core.lifecycle import DEFAULT_REPORTERS, Request
from rpx_detection.models.hf import load
from rpx_detection.models.hf_options import HfDetectionOptions
from rpx_detection.types import DetectionQuery, GroundingQuery
from tests.workshop import Workshop, runtime

FIXED = ("detr", "yolos", "rt_detr")
PROMPTED = ("owlv2", "grounding_dino")
WORDS = ("red mug", "box", "green ball")


def build(workshop: Workshop, kind: str, task: str, **options: Any) -> Any:
    chosen = HfDetectionOptions(checkpoint=workshop.checkpoint(kind), **options)
    model = load(chosen, runtime(task))
    model.setup()
    return model


def ask(query: Any) -> Sample:
    rng = np.random.default_rng(0)
    return Sample(id="s", rgb=rng.integers(0, 256, (48, 64, 3), dtype=np.uint8), query=query)


@pytest.mark.parametrize(
    ("kind", "task"),
    [
        *((kind, "object_detection") for kind in FIXED),
        *((kind, "open_vocab_detection") for kind in PROMPTED),
        *((kind, "visual_grounding") for kind in PROMPTED),
    ],
)
def test_a_folder_becomes_a_whole_report(workshop: Workshop, kind: str, task: str) -> None:
    outcome = workshop.run(
        f"hf:{workshop.checkpoint(kind)}", Request(reporters=DEFAULT_REPORTERS), task=task
    )
    assert outcome.report.status.failed_samples == 0
    assert outcome.report.run.model == f"rpx-detection/hf:{kind}"
    assert {path.name for path in outcome.written} >= {"summary.md", "report.html"}


@pytest.mark.parametrize("kind", FIXED)
def test_a_checkpoint_with_fixed_classes_needs_no_task(workshop: Workshop, kind: str) -> None:
    plan = workshop.plan(f"hf:{workshop.checkpoint(kind)}")
    assert plan.record.task == "rpx-detection/object_detection"


@pytest.mark.parametrize("kind", FIXED)
def test_detections_have_names_and_lie_in_order(workshop: Workshop, kind: str) -> None:
    samples = workshop.samples("object_detection", count=2)
    for found in build(workshop, kind, "object_detection", labels={"mug": "cup"}).predict(samples):
        assert found.boxes.shape == (len(found.labels), 4)
        assert set(found.labels) <= {"table", "wall", "floor", "cup"}
        assert found.scores.tolist() == sorted(found.scores, reverse=True)


def test_a_threshold_and_a_number_limit_what_is_kept(workshop: Workshop) -> None:
    samples = workshop.samples("object_detection", count=1)
    (everything,) = build(workshop, "rt_detr", "object_detection").predict(samples)
    (three,) = build(workshop, "rt_detr", "object_detection", most_boxes=3).predict(samples)
    np.testing.assert_array_equal(three.scores, everything.scores[:3])
    middle = float(np.median(everything.scores))
    (sure,) = build(workshop, "rt_detr", "object_detection", threshold=middle).predict(samples)
    assert len(sure.scores) == (everything.scores > middle).sum()


@pytest.mark.parametrize("kind", FIXED)
def test_predictions_do_not_depend_on_the_batch(workshop: Workshop, kind: str) -> None:
    samples = workshop.samples("object_detection", count=4)
    model = build(workshop, kind, "object_detection")
    for together, sample in zip(model.predict(samples), samples, strict=True):
        (alone,) = model.predict([sample])
        np.testing.assert_allclose(together.scores, alone.scores, atol=1e-5)
        np.testing.assert_allclose(together.boxes, alone.boxes, atol=1e-2)
        assert together.labels == alone.labels


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_number_formats_are_interpreted_in_full_precision(
    workshop: Workshop, dtype: str
) -> None:
    samples = workshop.samples("object_detection", count=2)
    exact = build(workshop, "detr", "object_detection").predict(samples)
    short = build(workshop, "detr", "object_detection", dtype=dtype).predict(samples)
    for one, other in zip(exact, short, strict=True):
        np.testing.assert_allclose(other.scores, one.scores, atol=0.03)


@pytest.mark.parametrize("kind", PROMPTED)
def test_answers_are_in_the_words_of_the_vocabulary(workshop: Workshop, kind: str) -> None:
    (found,) = build(workshop, kind, "open_vocab_detection", threshold=0.0).predict(
        [ask(DetectionQuery(WORDS))]
    )
    assert len(found.labels)
    assert set(found.labels) <= set(WORDS)
    assert found.boxes.shape == (len(found.labels), 4)


@pytest.mark.parametrize("kind", PROMPTED)
def test_samples_with_other_words_are_asked_apart(workshop: Workshop, kind: str) -> None:
    model = build(workshop, kind, "open_vocab_detection")
    batch = [ask(DetectionQuery(words)) for words in (WORDS, WORDS, WORDS[:1], WORDS)]
    found = model.predict(batch)
    for one, sample in zip(found, batch, strict=True):
        (alone,) = model.predict([sample])
        np.testing.assert_allclose(one.scores, alone.scores, atol=1e-5)
        assert one.labels == alone.labels
    assert set(found[2].labels) == {WORDS[0]}


def test_a_vocabulary_too_long_for_one_sentence_is_asked_in_several(workshop: Workshop) -> None:
    model = build(workshop, "grounding_dino", "open_vocab_detection", most_boxes=1000)
    # Four tokens each, of 32: twelve boxes for each of two sentences.
    words = tuple(f"{colour} {thing} left" for colour in ("red", "blue") for thing in
                  ("mug", "box", "ball", "can"))  # fmt: skip
    (found,) = model.predict([ask(DetectionQuery(words))])
    assert len(found.labels) == 24
    assert set(found.labels) <= set(words)
    assert found.scores.tolist() == sorted(found.scores, reverse=True)


@pytest.mark.parametrize("kind", PROMPTED)
def test_an_expression_is_answered_with_boxes(workshop: Workshop, kind: str) -> None:
    (found,) = build(workshop, kind, "visual_grounding").predict(
        [ask(GroundingQuery("the leftmost red mug"))]
    )
    assert len(found.scores) == len(found.boxes) > 0
    assert np.isfinite(found.boxes).all()


def test_a_template_puts_classes_into_words(workshop: Workshop) -> None:
    query = [ask(DetectionQuery(("mug",)))]
    plain = build(workshop, "owlv2", "open_vocab_detection").predict(query)[0]
    worded = build(workshop, "owlv2", "open_vocab_detection", prompt="a {}").predict(query)[0]
    assert set(worded.labels) == {"mug"}
    assert not np.allclose(plain.scores, worded.scores)


def test_without_words_there_is_nothing_to_look_for(workshop: Workshop) -> None:
    model = build(workshop, "owlv2", "open_vocab_detection")
    with pytest.raises(ModelError, match="sample s: no vocabulary says what to look for"):
        model.predict([ask(DetectionQuery())])


@pytest.mark.parametrize(
    ("kind", "task", "lacks"),
    [
        ("dpt", "object_detection", "a DPTForDepthEstimation, which detects no objects of fixed"),
        ("yolos", "open_vocab_detection", "a YolosForObjectDetection, which finds nothing by"),
        ("owlv2", "object_detection", "a Owlv2ForObjectDetection, which detects no objects of"),
    ],
)
def test_a_checkpoint_of_another_task_is_refused_by_its_class(
    workshop: Workshop, kind: str, task: str, lacks: str
) -> None:
    with pytest.raises(ModelError, match=lacks):
        workshop.run(f"hf:{workshop.checkpoint(kind)}", task=task)


@pytest.mark.parametrize(
    ("kind", "task"),
    [
        *((kind, "object_detection") for kind in FIXED),
        *((kind, "open_vocab_detection") for kind in PROMPTED),
        ("owlv2", "visual_grounding"),
    ],
)
@pytest.mark.parametrize("name", ["rpx-detection/hf", "hf"])
def test_the_runner_takes_a_detector_by_name(
    workshop: Workshop, kind: str, task: str, name: str
) -> None:
    folder = workshop.checkpoint(kind)
    said = {} if kind in FIXED else {"task": task}
    model = rpx.resolve(f"{name}:{folder}", device="cpu", **said)
    data = rpx.RPXDataset.from_name("demo", task=task, limit=2)
    assert rpx.BenchmarkRunner(model, data).run().num_samples == 2


def test_a_detector_with_words_must_be_told_which_task(workshop: Workshop) -> None:
    folder = workshop.checkpoint("owlv2")
    with pytest.raises(ConfigError, match="could do open_vocab_detection, visual_grounding"):
        rpx.resolve("hf", device="cpu", checkpoint=str(folder))
