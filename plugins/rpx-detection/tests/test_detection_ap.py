"""Average precision: worked examples, known traps, and the numbers of pycocotools."""

import json
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from rpx_core.contracts import Sample
from rpx_core.errors import ConfigError, MetricError
from rpx_core.ranking.ranked_list import DetectionColumns, ImageBatch, ObjectColumns
from rpx_core.state import fold
from rpx_detection.box_batch import box_batch
from rpx_detection.boxes import areas_of
from rpx_detection.metrics.average_precision import ClassAgnosticAP, CocoDetection, DetectionAP
from rpx_detection.metrics.f1 import DetectionF1, DetectionF1Options
from rpx_detection.metrics.per_class import DetectionPerClass, PerClassOptions
from rpx_detection.metrics.rules import DetectionAPOptions
from rpx_detection.types import DetectionPrediction

GOLDEN = json.loads((Path(__file__).parent / "data" / "coco_golden.json").read_bytes())
AP = DetectionAP(DetectionAPOptions())
COCO = CocoDetection()
BOTH = pytest.mark.parametrize("metric", [AP, COCO], ids=["detection-ap", "coco-detection"])

SMALL, NEXT, FAR = (0, 0, 20, 20), (30, 30, 50, 50), (70, 70, 90, 90)


def columns_of(rows, areas):
    x, y, width, height = rows[:, 2:6].T
    boxes = np.stack([x, y, x + width, y + height], axis=1)
    return rows[:, 0].astype(np.intp), rows[:, 1].astype(np.intp), areas, boxes


def batch_of(one) -> ImageBatch:
    """A set: objects are image, class, x, y, w, h, area, crowd; detections end in a score."""
    objects = np.array(one["objects"], np.float64).reshape(-1, 8)
    detections = np.array(one["detections"], np.float64).reshape(-1, 7)
    crowds, plain = objects[:, 7] > 0, np.zeros(len(detections), np.bool_)
    extents, found = (rows[:, 4] * rows[:, 5] for rows in (objects, detections))
    return box_batch(
        ObjectColumns(*columns_of(objects, objects[:, 6]), crowds, crowds),
        DetectionColumns(*columns_of(detections, found), detections[:, 6], plain),
        extents,
        np.arange(one["classes"]),
        one["images"],
    )


@pytest.mark.parametrize("one", GOLDEN["sets"], ids=range(len(GOLDEN["sets"])))
def test_twelve_numbers_are_those_of_pycocotools(one):
    values = COCO.result(COCO.measure_images(batch_of(one)))
    found = [-1.0 if value is None else value for value in list(values.values())[:12]]
    assert found == pytest.approx(one["numbers"], abs=1e-12)


@BOTH
def test_class_without_objects_is_undefined_and_out_of_the_mean(metric, truth, prediction, pooled):
    # RW-001: false alarms on classes 3 and 4 leave AP of the two others at 1.
    image = (
        truth(("1", SMALL), ("2", NEXT)),
        prediction(
            ("1", SMALL, 0.6), ("2", NEXT, 0.6), ("3", FAR, 0.6), ("4", (100, 100, 120, 120), 0.6)
        ),
    )
    values = pooled(metric, image)
    assert values["ap50"] == pytest.approx(1)
    assert values["classes"] == 2
    each = pooled(DetectionPerClass(PerClassOptions(classes=("1", "2", "3", "4"))), image)
    assert [each[f"ap_{name}"] for name in "1234"] == [1.0, 1.0, None, None]
    alarms = pooled(DetectionF1(DetectionF1Options()), image)
    assert alarms["absent_class_alarms"] == 2


@BOTH
def test_image_without_detections_costs_recall(metric, truth, prediction, pooled):
    # RW-002
    missed = (truth(("1", SMALL)), prediction())
    found = (truth(("1", SMALL)), prediction(("1", SMALL, 0.5)))
    values = pooled(metric, found, missed)
    assert values["ap50"] == pytest.approx(51 / 101)
    assert values["ar100"] == 0.5


@BOTH
@pytest.mark.parametrize("shape", [(0,), (0, 4)])
def test_run_without_any_detection_scores_zero(metric, shape, truth, pooled):
    # RW-003
    nothing = DetectionPrediction(np.zeros(shape), np.zeros(0), ())
    values = pooled(metric, (truth(("1", SMALL)), nothing))
    assert (values["ap"], values["ap50"], values["ar100"]) == (0.0, 0.0, 0.0)


@BOTH
def test_set_without_objects_is_undefined(metric, truth, prediction, pooled):
    # RW-004
    values = pooled(metric, (truth(), prediction(("1", SMALL, 0.9), ("1", NEXT, 0.8))))
    shares = {name: value for name, value in values.items() if name.startswith(("ap", "ar"))}
    assert set(shares.values()) == {None}
    assert values["classes"] == 0


@BOTH
def test_order_of_images_without_objects_does_not_matter(metric, truth, prediction, pooled):
    # RW-005
    empty = (truth(), prediction(("1", SMALL, 0.95)))
    full = (truth(("1", SMALL)), prediction(("1", SMALL, 0.9)))
    assert pooled(metric, empty, full)["ap50"] == pytest.approx(0.5)
    assert pooled(metric, full, empty)["ap50"] == pytest.approx(0.5)


def test_equal_scores_count_together_whatever_their_order(truth, prediction, pooled):
    # RW-006
    right, wrong = ("1", (0, 0, 10, 10), 1.0), ("1", (20, 20, 30, 30), 1.0)
    objects = truth(("1", (0, 0, 10, 10)))
    for order in ((right, wrong), (wrong, right)):
        values = pooled(AP, (objects, prediction(*order)))
        assert (values["ap50"], values["tied"]) == (0.5, 1.0)


def test_coco_counts_equal_scores_in_their_order(truth, prediction, pooled):
    # RW-006: what pycocotools does, kept in coco-detection and said in its documentation.
    right, wrong = ("1", (0, 0, 10, 10), 1.0), ("1", (20, 20, 30, 30), 1.0)
    objects = truth(("1", (0, 0, 10, 10)))
    assert pooled(COCO, (objects, prediction(right, wrong)))["ap50"] == pytest.approx(1.0)
    assert pooled(COCO, (objects, prediction(wrong, right)))["ap50"] == pytest.approx(0.5)


@BOTH
def test_ignored_objects_are_neither_required_nor_penalised(metric, truth, prediction, pooled):
    # RW-008
    objects = truth(("1", (0, 0, 10, 10)), ("1", (50, 50, 60, 60)), ignore=np.array([False, True]))
    first = ("1", (0, 0, 10, 10), 0.9)
    assert pooled(metric, (objects, prediction(first)))["ap50"] == pytest.approx(1.0)
    both = prediction(first, ("1", (50, 50, 60, 60), 0.95))
    assert pooled(metric, (objects, both))["ap50"] == pytest.approx(1.0)


@BOTH
def test_crowd_absorbs_any_number_of_detections(metric, truth, prediction, pooled):
    # RW-009
    objects = truth(
        ("1", (0, 0, 100, 100)), ("1", (200, 200, 220, 220)), crowd=np.array([True, False])
    )
    found = prediction(
        ("1", (10, 10, 30, 30), 0.9),
        ("1", (40, 40, 60, 60), 0.8),
        ("1", (70, 70, 90, 90), 0.7),
        ("1", (200, 200, 220, 220), 0.6),
    )
    assert pooled(metric, (objects, found))["ap50"] == pytest.approx(1.0)
    counts = pooled(DetectionF1(DetectionF1Options()), (objects, found))
    assert (counts["hits"], counts["false_alarms"], counts["misses"]) == (1, 0, 0)


def test_cap_is_an_option_and_part_of_the_names(truth, prediction, pooled):
    # RW-010
    boxes = [
        (30 * (i % 15), 30 * (i // 15), 30 * (i % 15) + 20, 30 * (i // 15) + 20) for i in range(150)
    ]
    image = (
        truth(*(("1", box) for box in boxes)),
        prediction(*(("1", box, 1 - i / 1000) for i, box in enumerate(boxes))),
    )
    cut = pooled(AP, image)
    assert cut["ap50"] == pytest.approx(67 / 101)
    assert cut["ar100"] == pytest.approx(100 / 150)
    assert cut["truncated"] == 1
    wide = DetectionAP(DetectionAPOptions(max_detections=(150,)))
    values = pooled(wide, image)
    assert (values["ap50"], values["ar150"], values["truncated"]) == (1.0, 1.0, 0)
    assert "150" in wide.outputs["ap"].summary
    assert "ar100" not in wide.outputs


def test_annotated_area_decides_on_the_size_unless_the_box_shall(truth, prediction, pooled):
    # RW-011 a
    objects = truth(("1", (0, 0, 40, 40)), area=np.array([900.0]))
    image = (objects, prediction(("1", (0, 0, 40, 40), 0.9)))
    values = pooled(AP, image)
    assert (values["ap_small"], values["ap_medium"]) == (1.0, None)
    by_box = pooled(DetectionAP(DetectionAPOptions(area="box")), image)
    assert (by_box["ap_small"], by_box["ap_medium"]) == (None, 1.0)


def test_area_on_an_edge_is_in_one_range_except_for_coco(truth, prediction, pooled):
    # RW-011 b
    image = (truth(("1", (0, 0, 32, 32))), prediction(("1", (0, 0, 32, 32), 0.9)))
    ours, theirs = pooled(AP, image), pooled(COCO, image)
    assert (ours["ap_small"], ours["ap_medium"]) == (None, 1.0)
    assert (theirs["ap_small"], theirs["ap_medium"]) == pytest.approx((1, 1))


def test_only_thresholds_that_were_asked_for_are_reported(truth, prediction, pooled):
    # RW-013
    metric = DetectionAP(DetectionAPOptions(thresholds=(0.2,)))
    image = (truth(("1", (0, 0, 1, 1))), prediction(("1", (0.5, 0.5, 1, 1), 1.0)))
    values = pooled(metric, image)
    assert (values["ap"], values["ap20"]) == (1.0, 1.0)
    assert not {"ap50", "ap75"} & set(metric.outputs)


def test_labels_do_not_matter_to_the_class_agnostic_metric(truth, prediction, pooled):
    # RW-014
    image = (
        truth(("1", (0, 0, 10, 10)), ("2", (20, 20, 30, 30))),
        prediction(("2", (0, 0, 10, 10), 0.9), ("1", (20, 20, 30, 30), 0.8)),
    )
    assert pooled(ClassAgnosticAP(DetectionAPOptions()), image)["ap50"] == 1.0
    assert pooled(AP, image)["ap50"] == 0.0


@BOTH
def test_inverted_and_empty_boxes_are_false_alarms(metric, truth, prediction, pooled):
    # RW-017
    image = (
        truth(("1", (10, 10, 30, 30))),
        prediction(
            ("1", (30, 30, 10, 10), 0.9), ("1", (5, 5, 5, 5), 0.8), ("1", (10, 10, 30, 30), 0.7)
        ),
    )
    assert pooled(metric, image)["ap50"] == pytest.approx(1 / 3)


@BOTH
def test_detections_are_ranked_over_the_whole_set(metric, truth, prediction, pooled):
    # RW-018
    first = (truth(("1", SMALL)), prediction(("1", SMALL, 0.9)))
    second = (truth(("1", SMALL)), prediction(("1", SMALL, 0.3), ("1", (60, 60, 80, 80), 0.95)))
    assert pooled(metric, first, second)["ap50"] == pytest.approx(2 / 3)


@BOTH
def test_first_object_may_have_any_id_or_label(metric, truth, prediction, pooled):
    # RW-007: nothing here is a sentinel, the empty label included.
    image = (
        truth(("", (0, 0, 10, 10)), ("", (20, 20, 30, 30))),
        prediction(("", (0, 0, 10, 10), 0.9), ("", (20, 20, 30, 30), 0.8)),
    )
    assert pooled(metric, image)["ap50"] == pytest.approx(1.0)


@BOTH
def test_scores_may_be_negative_or_large(metric, truth, prediction, pooled):
    image = (
        truth(("1", SMALL), ("1", NEXT)),
        prediction(("1", SMALL, 7.0), ("1", NEXT, -3.0), ("1", FAR, -9.0)),
    )
    assert pooled(metric, image)["ap50"] == pytest.approx(1.0)


def test_detections_of_classes_that_are_not_annotated_do_not_count(truth, prediction, pooled):
    found = prediction(("1", SMALL, 0.5), ("1", FAR, 0.9), ("2", NEXT, 0.9), ("3", NEXT, 0.8))
    plain = truth(("1", SMALL))
    federated = truth(
        ("1", SMALL), negative_labels=frozenset({"3"}), not_exhaustive_labels=frozenset({"1"})
    )
    metric = DetectionF1(DetectionF1Options())
    assert pooled(metric, (plain, found))["false_alarms"] == 3
    # Class 2 was not looked for; of class 1 not every object has a box.
    assert pooled(metric, (federated, found))["false_alarms"] == 1
    assert pooled(AP, (plain, found))["ap50"] == 0.5
    assert pooled(AP, (federated, found))["ap50"] == 1.0


def test_precision_at_a_recall_level_is_not_reached_by_rounding(truth, prediction, pooled):
    # 57 of 100 objects have recall 0.57, which is below level 57 of the grid, 0.5700000000000001.
    boxes = [(12 * i, 0, 12 * i + 10, 10) for i in range(100)]
    image = (
        truth(*(("1", box) for box in boxes)),
        prediction(*(("1", box, 0.5 - i / 1000) for i, box in enumerate(boxes[:57]))),
    )
    assert pooled(COCO, image)["ap50"] == pytest.approx(57 / 101)


def test_lengths_that_differ_are_an_error_naming_the_sample(truth, prediction):
    # RW-020
    boxes = np.array([(0, 0, 10, 10), (20, 20, 30, 30), (40, 40, 50, 50)], np.float64)
    short = truth(("mug", SMALL))
    short = type(short)(boxes, ("mug", "mug"))
    with pytest.raises(MetricError, match="sample s7: the truth has 3 boxes and 2 labels"):
        AP.measure(Sample("s7"), short, prediction())
    long = DetectionPrediction(boxes[:1], np.array([0.9, 0.1]), ("mug",))
    with pytest.raises(MetricError, match="sample s7: the prediction has 1 boxes, 2 scores"):
        AP.measure(Sample("s7"), truth(("mug", SMALL)), long)


def test_mean_of_images_is_not_offered_as_average_precision():
    for metric in (AP, COCO):
        assert {out.headline for out in metric.outputs.values()} == {"pooled"}
        assert "sample" not in metric.outputs["ap"].aggregates


def test_options_that_repeat_themselves_are_refused():
    for options in (
        {"thresholds": (0.5, 0.5)},
        {"max_detections": (10, 10)},
        {"sizes": {"tiny": (5.0, 5.0)}},
        {"sizes": {"all": (0.0, 5.0)}},
    ):
        with pytest.raises(ValidationError, match=r"thresholds|max_detections|sizes"):
            DetectionAPOptions(**options)


def test_classes_need_names_of_their_own():
    assert "ap_coffee_mug" in DetectionPerClass(PerClassOptions(classes=("Coffee mug",))).outputs
    for classes in (("Mug", "mug"), ("杯",)):
        with pytest.raises(ConfigError, match="do not have names of their own"):
            DetectionPerClass(PerClassOptions(classes=classes))


def test_single_images_join_to_the_block(truth, prediction):
    images = [
        (truth(("b", SMALL), ("a", NEXT)), prediction(("a", NEXT, 0.5), ("c", FAR, 0.4))),
        (truth(), prediction()),
        (truth(("a", SMALL)), prediction(("a", SMALL, 0.5))),
    ]
    objects = np.array([[0, 1, *SMALL], [0, 0, *NEXT], [2, 0, *SMALL]], np.float64)
    answers = np.array([[0, 0, *NEXT], [0, 2, *FAR], [2, 0, *SMALL]], np.float64)

    def columns(rows):
        return *rows[:, :2].astype(np.intp).T, areas_of(rows[:, 2:]), rows[:, 2:]

    none = np.zeros(3, np.bool_)
    block = AP.measure_images(
        box_batch(
            ObjectColumns(*columns(objects), none, none),
            DetectionColumns(*columns(answers), np.array([0.5, 0.4, 0.5]), none),
            areas_of(objects[:, 2:]),
            np.array(["a", "b", "c"]),
            len(images),
        )
    )
    joined = fold([AP.measure(Sample("s"), *image) for image in images])
    for name in vars(block):
        assert np.array_equal(getattr(block, name), getattr(joined, name)), name
