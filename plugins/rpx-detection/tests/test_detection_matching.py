"""The block matching against the plain loop that it replaces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.contracts import Sample
from rpx_core.state import fold
from rpx_detection.blocks import rank_in_blocks
from rpx_detection.boxes import (
    ALMOST_ONE,
    areas_of,
    is_degenerate,
    pairwise_iou,
    reaches,
    to_pixels,
)
from rpx_detection.criteria import COCO_SIZES, EVERY_SIZE, Criteria
from rpx_detection.evidence import image_batch
from rpx_detection.ranked_list import DetectionColumns, ImageBatch, ObjectColumns, rank, unpack
from rpx_detection.types import DetectionGroundTruth, DetectionPrediction

THRESHOLDS = (0.3, 0.5, 0.75)
CRITERIA = Criteria(THRESHOLDS, COCO_SIZES, cap=4, ties="given")

# A coarse grid: equal boxes, equal overlaps and equal scores are the rule here.
corners = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 3), st.integers(1, 3))
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


def match_plainly(truth, prediction, label, threshold, bounds):
    """COCO's loop for one class, threshold and size range: (hit, ignored) of each detection."""
    wanted = [i for i, name in enumerate(truth.labels) if name == label]
    found = [i for i, name in enumerate(prediction.labels) if name == label]
    found = sorted(found, key=lambda i: -prediction.scores[i])[: CRITERIA.cap]
    low, high = bounds
    ignored = {i: truth.crowd[i] or not low <= truth.area[i] <= high for i in wanted}
    wanted.sort(key=lambda i: ignored[i])
    taken, outcomes = set(), []
    for i in found:
        best, chosen = min(threshold, ALMOST_ONE), None
        for j in wanted:
            if j in taken and not truth.crowd[j]:
                continue
            if chosen is not None and not ignored[chosen] and ignored[j]:
                break
            overlap = overlap_plainly(prediction.boxes[i], truth.boxes[j], truth.crowd[j])
            if overlap >= best:
                best, chosen = overlap, j
        if chosen is None:
            x0, y0, x1, y1 = prediction.boxes[i]
            outcomes.append((False, not low <= (x1 - x0) * (y1 - y0) <= high))
        else:
            taken.add(chosen)
            outcomes.append((not ignored[chosen], ignored[chosen]))
    return outcomes


def overlap_plainly(found, wanted, crowd):
    width = min(found[2], wanted[2]) - max(found[0], wanted[0])
    height = min(found[3], wanted[3]) - max(found[1], wanted[1])
    if width <= 0 or height <= 0:
        return 0.0
    own = (found[2] - found[0]) * (found[3] - found[1])
    other = (wanted[2] - wanted[0]) * (wanted[3] - wanted[1])
    return width * height / (own if crowd else own + other - width * height)


@given(objects, detections)
def test_every_flag_is_that_of_the_plain_loop(wanted, found):
    truth, prediction = image_of(wanted, found)
    ranked = rank(image_batch(Sample("s"), truth, prediction), CRITERIA)
    hits = unpack(ranked.hits, len(THRESHOLDS)).reshape(4, len(THRESHOLDS), -1)
    ignored = unpack(ranked.ignored, len(THRESHOLDS)).reshape(4, len(THRESHOLDS), -1)
    start = 0
    for label, count in zip(ranked.classes, ranked.detections, strict=True):
        for size, bounds in enumerate(COCO_SIZES.bounds):
            for level, threshold in enumerate(THRESHOLDS):
                expected = match_plainly(truth, prediction, label, threshold, bounds)
                rows = slice(start, start + count)
                flags = zip(hits[size, level, rows], ignored[size, level, rows], strict=True)
                assert list(flags) == expected
        start += count


@given(st.lists(st.tuples(objects, detections), min_size=1, max_size=5), st.integers(1, 3))
def test_blocks_of_any_size_give_the_same_list(images, block):
    pairs = [image_of(*image) for image in images]
    classes = np.array(["a", "b"])

    def rows(columns, width=()):
        return np.concatenate([np.zeros((0, *width)), *columns])

    places = [np.full(len(truth.labels), i) for i, (truth, _) in enumerate(pairs)]
    answers = [np.full(len(found.labels), i) for i, (_, found) in enumerate(pairs)]
    names = [np.searchsorted(classes, np.array(truth.labels, "U1")) for truth, _ in pairs]
    called = [np.searchsorted(classes, np.array(found.labels, "U1")) for _, found in pairs]
    boxes = rows([truth.boxes for truth, _ in pairs], (4,))
    guesses = rows([found.boxes for _, found in pairs], (4,))
    crowds = rows([truth.crowd for truth, _ in pairs]).astype(np.bool_)
    batch = ImageBatch(
        ObjectColumns(
            rows(places).astype(np.intp),
            rows(names).astype(np.intp),
            boxes,
            areas_of(boxes),
            rows([truth.area for truth, _ in pairs]),
            crowds,
            crowds,
        ),
        DetectionColumns(
            rows(answers).astype(np.intp),
            rows(called).astype(np.intp),
            guesses,
            areas_of(guesses),
            areas_of(guesses),
            rows([found.scores for _, found in pairs]),
            np.zeros(len(guesses), np.bool_),
        ),
        classes,
        len(pairs),
    )
    single = [rank(image_batch(Sample("s"), *pair), CRITERIA) for pair in pairs]
    whole, joined = rank_in_blocks(batch, CRITERIA, block), fold(single)
    for name in vars(whole):
        assert np.array_equal(getattr(whole, name), getattr(joined, name)), name


@given(objects, detections, st.randoms(use_true_random=False))
def test_geometry_breaks_ties_whatever_the_order_of_the_input(wanted, found, random):
    criteria = Criteria(THRESHOLDS, EVERY_SIZE, cap=3, ties="geometry")
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


def test_overlap_equal_to_the_threshold_matches():
    # RW-059
    overlap = pairwise_iou(np.array([[0.0, 0, 10, 5]]), np.array([[0.0, 0, 10, 10]]))
    assert overlap[0, 0] == 0.5
    assert reaches(overlap, 0.5).all()
    assert not reaches(overlap, np.nextafter(0.5, 1)).any()
    assert reaches(np.array([1 - 1e-12]), 1.0).all()


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
