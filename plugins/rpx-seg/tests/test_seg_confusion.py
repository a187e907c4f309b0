"""Semantic IoU: hand-computed examples, and the traps of other implementations."""

import numpy as np
import pytest
from pydantic import ValidationError

from rpx_core.contracts import Sample
from rpx_core.errors import MetricError
from rpx_core.state import fold
from rpx_seg import confusion
from rpx_seg.metrics.semantic import SemanticIou, SemanticIouOptions
from rpx_seg.overlaps import MAX_LABELS, count_pairs
from rpx_seg.types import SemanticGroundTruth, SemanticPrediction

PLAIN = SemanticIou(SemanticIouOptions())


def states(metric, *images) -> list:
    found = [
        metric.measure(
            Sample("s"),
            SemanticGroundTruth(np.atleast_2d(truth).astype(np.int32)),
            SemanticPrediction(np.atleast_2d(prediction).astype(np.int32)),
        )
        for truth, prediction in images
    ]
    return [state for state in found if state is not None]


def values(*images, **options) -> dict:
    metric = SemanticIou(SemanticIouOptions(**options)) if options else PLAIN
    return dict(metric.result(fold(states(metric, *images))))


def per_class(truth, prediction, classes=()) -> list:
    pairs = count_pairs(np.atleast_2d(truth), np.atleast_2d(prediction))
    found = confusion.iou(confusion.tabulate(pairs, classes))
    return [None if np.isnan(value) else round(float(value), 9) for value in found]


# RW-023
def test_class_on_neither_side_is_undefined():
    truth, prediction = [0, 1, 0, 0], [0, 1, 0, 1]
    assert per_class(truth, prediction, range(3)) == [0.666666667, 0.5, None]
    got = values((truth, prediction), classes={"a": 0, "b": 1, "c": 2})
    assert got["miou"] == pytest.approx(0.583333333, abs=1e-6)
    assert got["classes"] == 2
    assert got["iou_c"] is None
    assert got["miou_all"] == pytest.approx(0.388888889, abs=1e-6)


# RW-024
def test_invented_class_costs_unless_the_name_says_otherwise():
    truth, prediction = [0, 0, 1, 1], [0, 2, 1, 1]
    assert per_class(truth, prediction) == [0.5, 1.0, 0.0]
    got = values((truth, prediction))
    assert got["miou"] == 0.5
    assert got["miou_truth"] == 0.75


# RW-025
def test_void_leaves_the_mean_as_well_as_the_matrix():
    truth, prediction = [2, 1, -1, -1], [2, 1, 0, 1]
    assert per_class(truth, prediction, range(3)) == [None, 1.0, 1.0]
    got = values((truth, prediction))
    assert (got["miou"], got["pixels"], got["ignored_pixels"]) == (1.0, 2, 2)


def test_a_listed_class_that_is_ignored_leaves_miou_all():
    truth = SemanticGroundTruth(np.array([[2, 1, -1, -1]], np.int32), void=frozenset({0}))
    metric = SemanticIou(SemanticIouOptions(classes={"zero": 0, "one": 1, "two": 2, "three": 3}))
    state = metric.measure(
        Sample("s1"), truth, SemanticPrediction(np.array([[2, 1, -1, 1]], np.int32))
    )
    assert metric.result(state)["miou_all"] == pytest.approx(2 / 3)


def test_the_confusion_matrix_has_the_names_of_the_data_and_no_void():
    truth = SemanticGroundTruth(
        np.array([[2, 2, 1, -1]], np.int32), {1: "cup", 2: "table"}, frozenset({0})
    )
    state = PLAIN.measure(
        Sample("s1"), truth, SemanticPrediction(np.array([[2, 1, -1, 1]], np.int32))
    )
    table = PLAIN.tables(fold([state, state]))["pixel_accuracy"]
    assert (table.rows, table.columns) == (["cup", "table"], ["cup", "table", "(no answer)"])
    assert table.counts.tolist() == [[0, 0, 2], [2, 2, 0]]


# RW-026
def test_excluding_a_class_from_the_mean_keeps_its_false_positives():
    truth, prediction = [0, 0, 0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 1, 1, 0, 0]
    kept = values((truth, prediction), exclude=(0,))
    assert kept["miou"] == pytest.approx(1 / 3)
    void = values((np.where(np.equal(truth, 0), -1, truth), prediction), classes={"one": 1})
    assert void["iou_one"] == 0.5


# RW-027
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.int64])
def test_class_ids_do_not_wrap(dtype):
    label = np.array([[20, 20, 7]], dtype)
    pairs = count_pairs(label, label.copy())
    assert confusion.iou(confusion.tabulate(pairs)).tolist() == [1.0, 1.0]
    assert confusion.tabulate(pairs).classes.tolist() == [7, 20]


# RW-029
def test_dataset_and_image_means_differ_and_neither_depends_on_batches():
    first = ([1], [0])
    second = ([1] * 99, [1] * 99)
    pooled = values(first, second, classes={"one": 1})
    assert pooled["iou_one"] == 0.99
    alone = [values(image, classes={"one": 1})["iou_one"] for image in (first, second)]
    assert np.mean(alone) == 0.5
    parts = states(PLAIN, first, second)
    assert PLAIN.result(fold([fold(parts[:1]), fold(parts[1:])])) == PLAIN.result(fold(parts))


def test_every_output_of_one_example():
    # Class 1: TP 2, FN 1, FP 1. Class 2: TP 1, FN 1. Class 3 is invented.
    truth = [1, 1, 1, 2, 2, -1]
    prediction = [1, 1, 3, 2, 1, 2]
    got = values((truth, prediction), classes={"one": 1, "two": 2, "Traffic light": 3})
    assert got["miou"] == pytest.approx((2 / 4 + 1 / 2 + 0) / 3)
    assert got["miou_truth"] == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert got["dice"] == pytest.approx((4 / 6 + 2 / 3 + 0) / 3)
    assert got["mean_accuracy"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert got["pixel_accuracy"] == pytest.approx(3 / 5)
    assert got["fwiou"] == pytest.approx((3 * 2 / 4 + 2 * 1 / 2) / 5)
    assert (got["pixels"], got["ignored_pixels"], got["classes"]) == (5, 1, 3)
    assert got["recall_one"] == pytest.approx(2 / 3)
    assert got["precision_one"] == pytest.approx(2 / 3)
    assert got["iou_traffic_light"] == 0
    assert got["recall_traffic_light"] is None
    assert got["precision_two"] == 1


def test_pixels_without_answer_are_wrong_but_no_false_positive():
    got = values(([1, 1, 2, 2], [1, -1, 2, 2]), classes={"one": 1, "two": 2})
    assert (got["iou_one"], got["iou_two"]) == (0.5, 1)
    assert got["precision_one"] == 1
    assert got["pixel_accuracy"] == 0.75


def test_image_of_void_alone_is_undefined():
    assert states(PLAIN, ([-1, -1], [0, 1])) == []


@pytest.mark.parametrize(
    "options",
    [
        {"classes": {"Mug": 1, "mug": 2}},
        {"classes": {"mug": -1}},
        {"classes": {"": 1}},
        {"exclude": ["mug"]},
        {"ignore": [0]},
    ],
)
def test_impossible_options_are_refused(options):
    with pytest.raises(ValidationError):
        SemanticIouOptions(**options)


def test_instance_ids_taken_for_classes_take_no_memory():
    # One image holds few of them; a whole dataset, a table of gigabytes.
    images = [(np.arange(3000) + 3000 * n, np.arange(3000) + 3000 * n) for n in range(2)]
    assert values(images[0])["miou"] == 1
    with pytest.raises(MetricError, match=f"6,000 classes occur; at most {MAX_LABELS:,}"):
        values(*images)
