"""Boxes: how much they overlap, how they compete for objects, and the conventions they come in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.contracts import Sample
from rpx_core.ranking.criteria import EVERY_SIZE, Criteria
from rpx_core.ranking.ranked_list import rank
from rpx_detection.boxes import areas_of, is_degenerate, pairwise_iou, to_pixels
from rpx_detection.evidence import image_batch
from rpx_detection.types import DetectionGroundTruth, DetectionPrediction

# A coarse grid: equal boxes, equal overlaps and equal scores are the rule here.
corners = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
labels = st.sampled_from(["a", "b"])
objects = st.lists(
    st.tuples(corners, labels, st.booleans(), st.sampled_from([500.0, 1024.0, 5000.0])), max_size=5
)
detections = st.lists(st.tuples(corners, labels, st.sampled_from([0.1, 0.5, 0.9])), max_size=6)


def boxes_of(rows) -> np.ndarray:
    boxes = [(16.0 * x, 16.0 * y, 16.0 * (x + w), 16.0 * (y + h)) for (x, y, w, h), *_ in rows]
    return np.array(boxes, np.float64).reshape(-1, 4)


def image_of(wanted, found) -> tuple[DetectionGroundTruth, DetectionPrediction]:
    truth = DetectionGroundTruth(
        boxes_of(wanted),
        tuple(label for _, label, *_ in wanted),
        crowd=np.array([crowd for _, _, crowd, _ in wanted], np.bool_),
        area=np.array([area for *_, area in wanted], np.float64),
    )
    scores = np.array([score for *_, score in found], np.float64)
    return truth, DetectionPrediction(boxes_of(found), scores, tuple(row[1] for row in found))


def overlap_plainly(found, wanted, crowd):
    width = min(found[2], wanted[2]) - max(found[0], wanted[0])
    height = min(found[3], wanted[3]) - max(found[1], wanted[1])
    if width <= 0 or height <= 0:
        return 0.0
    own = (found[2] - found[0]) * (found[3] - found[1])
    other = (wanted[2] - wanted[0]) * (wanted[3] - wanted[1])
    return width * height / (own if crowd else own + other - width * height)


@given(objects, detections)
def test_overlap_is_the_iou_and_with_a_crowd_the_share_inside(wanted, found):
    truth, prediction = image_of(wanted, found)
    batch = image_batch(Sample("s"), truth, prediction)
    for row, column in np.ndindex(len(found), len(wanted)):
        (overlap,) = batch.overlap(np.array([row]), np.array([column]))
        crowd = truth.crowd[column]
        assert overlap == overlap_plainly(prediction.boxes[row], truth.boxes[column], crowd)


@given(objects, detections, st.randoms(use_true_random=False))
def test_geometry_breaks_ties_whatever_the_order_of_the_input(wanted, found, random):
    criteria = Criteria((0.3, 0.5, 0.75), EVERY_SIZE, cap=3, ties="geometry")
    first = rank(image_batch(Sample("s"), *image_of(wanted, found)), criteria)
    random.shuffle(wanted)
    random.shuffle(found)
    second = rank(image_batch(Sample("s"), *image_of(wanted, found)), criteria)
    for name in vars(first):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name


def test_empty_and_inverted_boxes_overlap_nothing():
    # RW-017
    point, box = np.array([[5.0, 5, 5, 5]]), np.array([[0.0, 0, 10, 10]])
    inverted, upright = np.array([[30.0, 30, 10, 10]]), np.array([[10.0, 10, 30, 30]])
    for first, second in ((point, point), (point, box), (inverted, upright), (inverted, inverted)):
        assert pairwise_iou(first, second).tolist() == [[0.0]]
    assert areas_of(np.concatenate([point, inverted, box])).tolist() == [0.0, 0.0, 100.0]
    assert is_degenerate(np.concatenate([point, inverted, box])).tolist() == [True, True, False]


def test_boxes_are_half_open():
    first, second = np.array([[0.0, 0, 10, 10]]), np.array([[5.0, 0, 15, 10]])
    assert pairwise_iou(first, second)[0, 0] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("box", "layout", "space"),
    [
        ((64, 48, 320, 240), "xyxy", "pixels"),
        ((64, 48, 256, 192), "xywh", "pixels"),
        ((192, 144, 256, 192), "cxcywh", "pixels"),
        ((0.1, 0.1, 0.5, 0.5), "xyxy", "unit"),
        ((100, 100, 500, 500), "xyxy", "thousand"),
        ((0.3, 0.3, 0.4, 0.4), "cxcywh", "unit"),
    ],
)
def test_declared_layouts_and_spaces_become_pixel_corners(box, layout, space):
    # RW-016 and RW-058
    found = to_pixels(np.array([box], np.float64), layout=layout, space=space, size=(480, 640))
    assert found == pytest.approx(np.array([[64, 48, 320, 240]]))


def test_misread_layouts_still_look_plausible():
    # RW-016 and RW-058: the overlaps that hide a wrong convention.
    corners_read = pairwise_iou(np.array([[10.0, 10, 40, 40]]), np.array([[10.0, 10, 50, 50]]))
    assert corners_read[0, 0] == pytest.approx(0.5625)
    pixels_read = pairwise_iou(np.array([[100.0, 100, 500, 500]]), np.array([[64.0, 48, 320, 240]]))
    assert pixels_read[0, 0] == pytest.approx(0.172692204)
