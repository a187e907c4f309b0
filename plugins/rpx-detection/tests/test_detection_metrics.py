"""F1, confusion, published F1 and checks: worked examples and known traps."""

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_detection.labels import normalise
from rpx_detection.metrics.checks import DetectionChecks
from rpx_detection.metrics.confusion import DetectionConfusion, DetectionConfusionOptions
from rpx_detection.metrics.f1 import DetectionF1, DetectionF1Options
from rpx_detection.metrics.published_f1 import PublishedDetectionF1
from rpx_detection.types import DetectionPrediction, DetectionQuery

F1 = DetectionF1(DetectionF1Options())
PUBLISHED = PublishedDetectionF1()
CONFUSION = DetectionConfusion(DetectionConfusionOptions())
CHECKS = DetectionChecks()

A, B, C = (0, 0, 10, 10), (20, 20, 30, 30), (40, 40, 50, 50)


def test_worked_example_of_the_published_score(truth, prediction, pooled):
    image = (
        truth(("cup", A), ("cup", B)),
        prediction(("cup", A, 0.9), ("cup", (20, 20, 30, 26), 0.8), ("cup", A, 0.7)),
    )
    values = pooled(PUBLISHED, image)
    assert values == pytest.approx({"precision": 2 / 3, "recall": 1, "f1": 0.8})
    assert {name: pooled(F1, image)[name] for name in values} == pytest.approx(values)


def test_published_score_matches_labels_and_takes_the_first_of_equal_overlaps(
    truth, prediction, pooled
):
    other = (truth(("cup", A)), prediction(("mug", A, 0.9)))
    assert pooled(PUBLISHED, other)["f1"] == 0.0
    # Both objects overlap the first detection equally; taking the later one would lose the second.
    twins = (
        truth(("cup", (0, 0, 10, 10)), ("cup", (4, 0, 14, 10))),
        prediction(("cup", (2, 0, 12, 10), 0.9), ("cup", (6, 0, 16, 10), 0.8)),
    )
    assert pooled(PUBLISHED, twins)["recall"] == 1.0


def test_image_with_nothing_in_it_is_undefined_in_the_published_score(truth, prediction):
    assert PUBLISHED.measure(Sample("s"), truth(), prediction()) is None


def test_empty_frames_do_not_raise_the_score(truth, prediction, pooled):
    # RW-019
    frames = [(truth(("1", A)), prediction())] + [(truth(), prediction())] * 9
    values = pooled(F1, *frames)
    counts = [values[name] for name in ("hits", "false_alarms", "misses")]
    assert counts == [0, 0, 1]
    assert (values["recall"], values["precision"], values["f1"]) == (0.0, None, 0.0)
    empty = F1.result(F1.measure(Sample("s"), truth(), prediction()))
    assert [empty[name] for name in ("precision", "recall", "f1")] == [None, None, None]
    assert pooled(PUBLISHED, *frames)["f1"] == 0.0


def test_no_detection_at_all_has_no_precision(truth, prediction, pooled):
    # RW-003
    values = pooled(F1, (truth(("1", A)), prediction()))
    assert (values["precision"], values["recall"], values["misses"]) == (None, 0.0, 1)
    assert (values["best_f1"], values["best_score"]) == (0.0, None)


def test_false_alarms_are_counted_where_no_object_is(truth, prediction, pooled):
    # RW-004
    values = pooled(
        F1,
        (truth(), prediction(("1", A, 0.9), ("1", B, 0.8))),
        (truth(), prediction(("1", A, 0.3))),
    )
    assert (values["precision"], values["recall"]) == (0.0, None)
    assert (values["false_alarms"], values["false_alarms_per_image"]) == (3, 1.5)


def test_score_threshold_decides_what_counts(truth, prediction, pooled):
    image = (
        truth(("1", A), ("1", B)),
        prediction(("1", A, 0.9), ("1", C, 0.6), ("1", B, 0.4), ("1", C, 0.2)),
    )
    strict = pooled(DetectionF1(DetectionF1Options(score=0.6)), image)
    assert (strict["precision"], strict["recall"], strict["f1"]) == (0.5, 0.5, 0.5)
    everything = pooled(F1, image)
    assert (everything["precision"], everything["recall"]) == (0.5, 1.0)
    # At 0.4: two hits of three detections.
    assert everything["best_f1"] == pytest.approx(0.8)
    assert everything["best_score"] == 0.4
    assert everything["best_precision"] == pytest.approx(2 / 3)
    assert everything["best_recall"] == 1.0


def test_best_threshold_takes_all_detections_of_its_score(truth, prediction, pooled):
    image = (
        truth(("1", A)),
        prediction(("1", A, 0.5), ("1", B, 0.5), ("1", C, 0.5)),
    )
    assert pooled(F1, image)["best_f1"] == 0.5


def test_labels_match_by_equality_after_the_declared_normalisation(truth, prediction, pooled):
    # RW-021
    names = ("mug", "Mug ", "personal_mobility"), ("mug", "mug", "person")
    counts = {}
    for rule in ("exact", "casefold"):
        wanted, called = ([normalise(name, rule) for name in side] for side in names)
        values = pooled(
            F1,
            (
                truth(*zip(wanted, (A, B, C), strict=True)),
                prediction(*zip(called, (A, B, C), (0.9, 0.8, 0.7), strict=True)),
            ),
        )
        counts[rule] = [values[name] for name in ("hits", "false_alarms", "misses")]
    assert counts == {"exact": [1, 2, 2], "casefold": [2, 1, 1]}


def test_normalisation_is_documented_text_folding():
    assert normalise("  Coffee   MUG\t", "casefold") == "coffee mug"
    assert normalise("ﬁre", "casefold") == "fire"
    assert normalise("Straße", "casefold") == "strasse"
    assert normalise("Mug ", "exact") == "Mug "


def test_confusion_tells_wrong_names_from_wrong_places(truth, prediction, pooled):
    image = (
        truth(("cup", A), ("bowl", B), ("fork", C)),
        prediction(("cup", A, 0.9), ("plate", B, 0.8), ("cup", (80, 80, 90, 90), 0.7)),
    )
    assert pooled(CONFUSION, image) == pytest.approx(
        {"label_accuracy": 0.5, "confused": 1 / 3, "missed": 1 / 3, "spurious": 1 / 3}
    )
    state = CONFUSION.measure(Sample("s"), *image)
    table = CONFUSION.tables(state)["label_accuracy"]
    assert table.rows == ["bowl", "cup", "fork", "plate", "(no object)"]
    assert table.columns == ["bowl", "cup", "fork", "plate", "(not found)"]
    assert table.counts.tolist() == [
        [0, 0, 0, 1, 0],
        [0, 1, 0, 0, 0],
        [0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
    ]


def test_confusion_pairs_by_overlap_before_score(truth, prediction, pooled):
    image = (
        truth(("cup", (0, 0, 10, 10))),
        prediction(("bowl", (0, 0, 10, 6), 0.9), ("cup", (0, 0, 10, 10), 0.1)),
    )
    assert pooled(CONFUSION, image)["label_accuracy"] == 1.0
    sure = DetectionConfusion(DetectionConfusionOptions(score=0.5))
    assert pooled(sure, image)["label_accuracy"] == 0.0


def test_confusion_leaves_out_what_lies_on_ignored_objects(truth, prediction, pooled):
    image = (
        truth(("cup", (0, 0, 100, 100)), crowd=np.array([True])),
        prediction(("bowl", (10, 10, 30, 30), 0.9), ("cup", (200, 200, 220, 220), 0.8)),
    )
    assert pooled(CONFUSION, image) == {
        "label_accuracy": None,
        "confused": None,
        "missed": None,
        "spurious": 1.0,
    }


def sample_with(vocabulary=()) -> Sample:
    rgb = np.zeros((480, 640, 3), np.uint8)
    return Sample("s", rgb, query=DetectionQuery(tuple(vocabulary)))


def test_checks_see_wrong_conventions(prediction):
    found = prediction(
        ("cup", (100, 100, 500, 500), 0.9),  # 0 to 1000 in an image of 480 rows
        ("cup", (0.1, 0.1, 0.5, 0.5), 0.8),  # 0 to 1
        ("mug", (300, 200, 50, 40), 0.7),  # x, y, width, height
        ("mug", (0, 0, 650, 470), 0.6),  # a little beyond the edge
    )
    values = CHECKS.result(CHECKS.measure(sample_with(["cup"]), None, found))
    assert values == {
        "detections_per_image": 4.0,
        "degenerate": 0.25,
        "outside": 0.25,
        "subpixel": 0.25,
        "unknown_labels": 0.5,
    }
    low, high = CHECKS.outputs["outside"].plausible
    assert not low <= values["outside"] <= high


def test_checks_warn_of_a_model_that_answers_nothing(prediction):
    # RW-003
    values = CHECKS.result(CHECKS.measure(sample_with(), None, prediction()))
    low, _ = CHECKS.outputs["detections_per_image"].plausible
    assert values["detections_per_image"] < low
    assert values["degenerate"] is None


def test_checks_need_neither_image_nor_vocabulary(prediction):
    found = DetectionPrediction(np.array([[0.0, 0, 9e9, 9]]), np.array([1.0]), ("x",))
    values = CHECKS.result(CHECKS.measure(Sample("s"), None, found))
    assert (values["outside"], values["unknown_labels"]) == (0.0, 0.0)
