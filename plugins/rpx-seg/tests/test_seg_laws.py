"""What holds for every segmentation metric, whatever the images."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core import testing as laws
from rpx_core.contracts import Frame, Sample
from rpx_seg.classes import ClassOptions
from rpx_seg.metrics.boundary import BoundaryOptions, MaskBoundary, SemanticBoundary
from rpx_seg.metrics.masks import MaskIou
from rpx_seg.metrics.panoptic import PanopticQuality
from rpx_seg.metrics.precision import MaskAveragePrecision
from rpx_seg.metrics.semantic import SemanticIou, SemanticIouOptions
from rpx_seg.metrics.stability import LabelStability, PublishedLabelStability
from rpx_seg.types import (
    SegmentationGroundTruth,
    SegmentationPrediction,
    SemanticGroundTruth,
    SemanticPrediction,
)

SHAPE = (6, 8)
CAMERA = np.array([[10.0, 0, 3.5], [0, 10, 2], [0, 0, 1]])
NAMES = ("ball", "mug", "book")
BY_CLASS = ClassOptions(by_class=True, classes=("mug",))
INSTANCE = [
    MaskIou(),
    PanopticQuality(ClassOptions()),
    PanopticQuality(BY_CLASS),
    MaskAveragePrecision(ClassOptions()),
    MaskAveragePrecision(BY_CLASS),
    MaskBoundary(BoundaryOptions(band=0.1, tolerance=0.15)),
    LabelStability(),
    PublishedLabelStability(),
]
SEMANTIC = [
    SemanticIou(SemanticIouOptions(classes={"one": 1, "nine": 9}, exclude=(2,))),
    SemanticBoundary(BoundaryOptions(band=0.1)),
    LabelStability(),
    PublishedLabelStability(),
]
METRICS = [(metric, False) for metric in INSTANCE] + [(metric, True) for metric in SEMANTIC]
IDS = [
    f"{type(metric).__name__}-{'semantic' if semantic else 'instance'}-{number}"
    for number, (metric, semantic) in enumerate(METRICS)
]

masks = arrays(np.int32, SHAPE, elements=st.integers(-1, 4))
answers = arrays(np.int32, SHAPE, elements=st.integers(0, 4))
images = st.tuples(masks, answers)


def named(mask) -> dict[int, str]:
    return {int(i): NAMES[int(i) % 3] for i in np.unique(mask) if i > 0}


def frame(image, number: int, semantic: bool) -> Frame:
    truth, prediction = image
    pose = np.eye(4)
    pose[0, 3] = 0.05 * number
    sample = Sample(f"s{number}", camera_pose=pose, intrinsics=CAMERA, frame=number)
    depth = np.full(SHAPE, 1.0, np.float32)
    if semantic:
        return Frame(
            sample, SemanticGroundTruth(truth, depth=depth), SemanticPrediction(prediction)
        )
    # Different in every segment and image: equal scores are in the order of the fold.
    scores = {int(i): 1 / (2 + i + 10 * number) for i in np.unique(prediction)}
    return Frame(
        sample,
        SegmentationGroundTruth(truth, named(truth), depth),
        SegmentationPrediction(prediction, scores, named(prediction)),
    )


def measure_all(metric, recording, semantic) -> list:
    return laws.measure_all(
        metric, [frame(image, number, semantic) for number, image in enumerate(recording)]
    )


def close(got, want) -> bool:
    return got is want or got == pytest.approx(want, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("metric", "semantic"), METRICS, ids=IDS)
@settings(max_examples=25)
@given(recording=st.lists(images, min_size=2, max_size=3))
def test_states_survive_bytes_and_results_are_finite(metric, semantic, recording):
    laws.check_storage(metric, measure_all(metric, recording, semantic))


@pytest.mark.parametrize(("metric", "semantic"), METRICS, ids=IDS)
@settings(max_examples=15)
@given(recording=st.lists(images, min_size=2, max_size=4), data=st.data())
def test_folds_do_not_depend_on_order_or_split(metric, semantic, recording, data):
    states = measure_all(metric, recording, semantic)
    laws.check_order(metric, states, data.draw(st.permutations(range(len(states)))))
    laws.check_split(metric, states, data.draw(st.integers(0, len(states))))


@pytest.mark.parametrize(("metric", "semantic"), METRICS, ids=IDS)
@settings(max_examples=15)
@given(recording=st.lists(images, min_size=2, max_size=3))
def test_measuring_changes_no_input(metric, semantic, recording):
    before = [[array.tobytes() for array in image] for image in recording]
    measure_all(metric, recording, semantic)
    assert [[array.tobytes() for array in image] for image in recording] == before


@pytest.mark.parametrize(("metric", "semantic"), METRICS, ids=IDS)
@settings(max_examples=15)
@given(recording=st.lists(masks, min_size=2, max_size=3))
def test_truth_as_prediction_is_perfect(metric, semantic, recording):
    if type(metric) is PublishedLabelStability:
        return  # compares a prediction with itself, not with the truth
    pairs = [(truth, truth.clip(0)) for truth in recording]
    for state in measure_all(metric, pairs, semantic):
        for name, value in laws.values_of(metric, state).items():
            best = metric.outputs[name].best
            if best is None or name in {"ts_coverage", "miou_raw_id", "miou_all"}:
                continue
            if name.startswith("ar") and name != "ar100":
                continue  # one prediction cannot recall two segments
            assert value is None or value == pytest.approx(best, abs=1e-12), name


@settings(max_examples=25)
@given(images, st.permutations(range(1, 5)))
def test_numbering_of_predictions_does_not_matter(image, order):
    names = np.array([0, *(10 * i for i in order)], np.int32)
    truth, prediction = image
    for metric in (MaskIou(), PanopticQuality(ClassOptions())):
        for before, after in zip(
            measure_all(metric, [image], False),
            measure_all(metric, [(truth, names[prediction])], False),
            strict=True,
        ):
            first, second = laws.values_of(metric, before), laws.values_of(metric, after)
            assert all(close(second[name], first[name]) for name in first if name != "miou_raw_id")


@settings(max_examples=25)
@given(images, arrays(np.bool_, SHAPE))
def test_what_is_predicted_on_void_changes_no_pixel_metric(image, elsewhere):
    truth, prediction = image
    other = np.where((truth < 0) & elsewhere, 3, prediction).astype(np.int32)
    metric = SemanticIou(SemanticIouOptions())
    before, after = (measure_all(metric, [(truth, p)], True) for p in (prediction, other))
    assert [laws.values_of(metric, s) for s in before] == [laws.values_of(metric, s) for s in after]


@settings(max_examples=25)
@given(masks, st.integers(1, 4))
def test_losing_a_segment_never_helps(truth, lost):
    whole = truth.clip(0)
    fewer = np.where(whole == lost, 0, whole).astype(np.int32)
    for metric, name in ((MaskIou(), "miou"), (PanopticQuality(ClassOptions()), "pq")):
        for before, after in zip(
            measure_all(metric, [(truth, whole)], False),
            measure_all(metric, [(truth, fewer)], False),
            strict=True,
        ):
            worse, better = (laws.values_of(metric, s)[name] for s in (after, before))
            assert worse == better is None or worse <= better


@settings(max_examples=25)
@given(images, arrays(np.bool_, SHAPE))
def test_wrong_pixels_never_raise_accuracy(image, flipped):
    truth, prediction = image
    worse = np.where(flipped, 7, prediction).astype(np.int32)
    metric = SemanticIou(SemanticIouOptions())
    for before, after in zip(
        measure_all(metric, [image], True), measure_all(metric, [(truth, worse)], True), strict=True
    ):
        first, second = laws.values_of(metric, before), laws.values_of(metric, after)
        assert second["pixel_accuracy"] <= first["pixel_accuracy"]
