"""Instance metrics: hand-computed examples and the public traps."""

import numpy as np
import pytest
from pydantic import ValidationError

from rpx_core.contracts import Sample
from rpx_core.errors import ConfigError, MetricError
from rpx_core.state import fold
from rpx_seg.classes import ClassOptions
from rpx_seg.metrics.boundary import BoundaryOptions, MaskBoundary, SemanticBoundary
from rpx_seg.metrics.masks import MaskIou
from rpx_seg.metrics.panoptic import PanopticQuality
from rpx_seg.metrics.precision import MaskAveragePrecision
from rpx_seg.raw_iou import raw_id_miou
from rpx_seg.types import SegmentationGroundTruth, SegmentationPrediction

MASKS = MaskIou()
PANOPTIC = PanopticQuality(ClassOptions())
COCO = MaskAveragePrecision(ClassOptions())


def row(**segments) -> np.ndarray:
    """A one-row mask of ten pixels; each name's pixels get the id after its letter."""
    mask = np.zeros((1, 10), np.int32)
    for name, pixels in segments.items():
        mask[0, pixels] = -1 if name == "void" else int(name[1:])
    return mask


def measure(metric, *images, names=None):
    """The fold over (truth, prediction) masks; `names` are classes and scores for all of them."""
    names = names or {}
    states = [
        metric.measure(
            Sample("s1"),
            SegmentationGroundTruth(np.asarray(truth, np.int32), names.get("truth")),
            SegmentationPrediction(
                np.asarray(prediction, np.int32), names.get("scores"), names.get("labels")
            ),
        )
        for truth, prediction in images
    ]
    return fold([state for state in states if state is not None])


def values(metric, *images, **names) -> dict:
    total = measure(metric, *images, names=names)
    return dict.fromkeys(metric.outputs) if total is None else dict(metric.result(total))


# The published example, and the same with its ids swapped.
def test_published_miou_of_raw_ids():
    truth, prediction = np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 1]])
    assert raw_id_miou(truth, prediction) == pytest.approx(0.5833, abs=5e-5)
    assert raw_id_miou(truth, 1 - truth) == 0
    assert values(MASKS, (truth, prediction))["miou_raw_id"] == pytest.approx(0.5833, abs=5e-5)


def test_published_miou_has_no_class_but_those_of_the_truth():
    truth, prediction = np.array([[0, 0, 5]]), np.array([[0, 7, 5]])
    assert raw_id_miou(truth, prediction) == pytest.approx((1 / 2 + 1) / 2)
    assert raw_id_miou(np.array([[-1]]), np.array([[3]])) is None


def test_published_miou_of_an_empty_image_without_predictions_is_perfect():
    got = values(MASKS, (np.zeros((2, 2)), np.zeros((2, 2))))
    assert (got["miou"], got["miou_truth"], got["miou_raw_id"]) == (None, None, 1.0)


def test_numbering_does_not_matter_to_assigned_masks():
    truth = row(s1=range(4), s2=range(4, 8))
    renamed = row(s700=range(4), s3=range(4, 8))
    got = values(MASKS, (truth, renamed))
    assert (got["miou"], got["miou_truth"]) == (1, 1)
    assert got["miou_raw_id"] == pytest.approx(1 / 3)


def test_missed_and_invented_segments_count_as_zero():
    truth = row(s1=range(2), s2=range(2, 4))
    assert values(MASKS, (truth, row(s1=range(2))))["miou"] == 0.5
    more = values(MASKS, (truth, row(s1=range(2), s2=range(2, 4), s3=[8], s4=[9])))
    assert (more["miou"], more["miou_truth"]) == (0.5, 1)
    nothing_there = values(MASKS, (row(), row(s1=[0])))
    assert (nothing_there["miou"], nothing_there["miou_truth"]) == (0, None)


def test_pooled_masks_weigh_segments_not_images():
    one = (row(s1=[0]), row(s1=[0]))
    three = (row(s1=[0], s2=[1], s3=[2]), row())
    assert values(MASKS, one, three)["miou"] == 0.25


def test_void_pixels_count_on_neither_side():
    truth = row(s1=range(4), void=range(4, 10))
    assert values(MASKS, (truth, row(a1=range(4), b2=range(4, 10))))["miou"] == 1
    assert values(MASKS, (truth, row(a1=range(6))))["miou"] == 1


def test_images_without_segments_are_undefined():
    assert measure(PANOPTIC, (row(), row())) is None
    for metric in (MASKS, PANOPTIC):
        assert measure(metric, (row(void=range(10)), row(a1=range(10)))) is None


# RW-030
def test_ids_above_eight_bits_stay_apart():
    mask = np.array([[1, 257], [2, 258]])
    state = measure(MASKS, (mask, mask))
    assert (int(state.truths), int(state.predictions)) == (4, 4)
    assert values(MASKS, (mask, mask))["miou"] == 1


# RW-034: J of a video is `miou` averaged over its frames. A frame that is empty on both sides is
# undefined, which leaves the mean where J's 1 would, but counts nowhere; a ghost costs as there. No
# frame is given to a segmentation model, so none is left out.
def test_ghosts_on_frames_without_the_object_cost():
    seen, empty, ghost = row(s1=range(4)), row(), row(s1=range(5))

    def frames(middle):
        pairs = [(seen, seen), (empty, middle), (seen, seen)]
        return [values(MASKS, pair)["miou"] for pair in pairs]

    assert frames(empty) == [1, None, 1]
    assert frames(ghost) == [1, 0, 1]
    assert np.mean(frames(ghost)) == pytest.approx(0.666666667)


# RW-033
def test_predictions_on_void_are_not_false():
    truth = row(s1=range(4), void=range(4, 10))
    apart = row(a1=range(4), b2=range(4, 10))
    state = measure(PANOPTIC, (truth, apart))
    assert (state.matched.tolist(), state.invented.tolist()) == ([1], [0])
    assert values(PANOPTIC, (truth, apart))["pq"] == 1
    spilling = values(PANOPTIC, (truth, row(a1=range(6))))
    assert (spilling["pq"], spilling["sq"]) == (1, 1)


def test_background_is_not_void():
    truth = row(s1=range(4))
    got = values(PANOPTIC, (truth, row(a1=range(4), b2=range(4, 10))))
    assert got == {"pq": 1 / 1.5, "sq": 1, "rq": 1 / 1.5}


def test_panoptic_quality_of_one_example():
    # IoU 3/4 for the first; 1/2, which is not above one half, for the second.
    truth = row(s1=range(4), s2=range(4, 6))
    got = values(PANOPTIC, (truth, row(a1=range(3), b2=range(5, 6))))
    assert got == {"pq": 0.75 / 2, "sq": 0.75, "rq": 0.5}
    assert values(PANOPTIC, (truth, row())) == {"pq": 0, "sq": None, "rq": 0}


def test_pooled_panoptic_quality_counts_over_images():
    hit, miss = (row(s1=[0]), row(s1=[0])), (row(s1=[0], s2=[1], s3=[2]), row())
    assert values(PANOPTIC, hit, miss)["pq"] == pytest.approx(1 / (1 + 3 / 2))


def test_classes_part_segments():
    metric = PanopticQuality(ClassOptions(by_class=True, classes=("mug", "traffic light")))
    truth = row(s1=range(2), s2=range(2, 4))
    got = values(
        metric,
        (truth, truth),
        truth={1: "mug", 2: "mug"},
        labels={1: "mug", 2: "can"},
    )
    # mug: one match, one missed; can: one invented.
    assert got["pq_mug"] == pytest.approx(1 / 1.5)
    assert got["pq"] == pytest.approx(1 / 1.5 / 2)
    assert got["sq"] == 0.5
    assert got["pq_traffic_light"] is None


def test_average_precision_of_one_example():
    truth = row(s1=range(4), s2=range(4, 8))
    prediction = row(a1=range(4), b2=range(8, 10), c3=range(4, 8))
    got = values(COCO, (truth, prediction), scores={1: 0.9, 2: 0.8, 3: 0.7})
    # Precision 1 up to recall 0.5, then 2/3.
    assert got["ap"] == pytest.approx((51 * 1 + 50 * 2 / 3) / 101)
    assert got["ap_small"] == got["ap"]
    assert got["ap50"] == pytest.approx(got["ap"])
    assert got["ap_medium"] is None
    assert (got["ar1"], got["ar10"], got["ar100"]) == (0.5, 1, 1)


def test_higher_scores_for_false_segments_cost_precision():
    truth = row(s1=range(4))
    prediction = row(a1=range(4), b2=range(8, 10))
    low = values(COCO, (truth, prediction), scores={1: 0.9, 2: 0.1})
    high = values(COCO, (truth, prediction), scores={1: 0.1, 2: 0.9})
    assert low["ap"] == pytest.approx(1)
    assert high["ap"] == pytest.approx(0.5)


def test_average_precision_pools_scores_over_images():
    found = (row(s1=range(4)), row(a1=range(4)))
    invented = (row(), row(a1=range(4)))
    equal = values(COCO, found, invented, scores={1: 0.5})
    # Of equal scores the earlier image comes first.
    assert equal["ap"] == pytest.approx(1)
    assert values(COCO, invented, found, scores={1: 0.5})["ap"] == pytest.approx(0.5)


def test_average_precision_needs_scores_but_an_empty_answer_is_one():
    truth = row(s1=range(4))
    assert measure(COCO, (truth, truth)) is None
    assert values(COCO, (truth, row()), scores={})["ap"] == 0
    assert values(COCO, (row(), row(a1=[0])), scores={1: 0.5})["ap"] is None


def test_void_is_ignored_by_average_precision():
    truth = row(s1=range(4), void=range(4, 10))
    got = values(COCO, (truth, row(a1=range(4), b2=range(4, 10))), scores={1: 0.5, 2: 0.9})
    assert got["ap"] == pytest.approx(1)


@pytest.mark.parametrize("kind", [PanopticQuality, MaskAveragePrecision])
@pytest.mark.parametrize(
    "names",
    [
        {"labels": {7: "mug"}},
        {"truth": {}, "labels": {7: "mug"}},
        {"truth": {7: "mug"}},
        {"truth": None, "labels": {7: "mug"}},
        {"truth": {7: "mug"}, "labels": {8: "mug"}},
    ],
)
def test_segments_without_a_class_are_named(kind, names):
    metric = kind(ClassOptions(by_class=True))
    with pytest.raises(MetricError, match="sample s1: segments without a class: 7"):
        measure(metric, (row(s7=[0]), row(s7=[0])), names={"scores": {7: 1.0}, **names})


@pytest.mark.parametrize("kind", [PanopticQuality, MaskAveragePrecision])
def test_instances_without_a_class_among_others_are_void(kind):
    metric = kind(ClassOptions(by_class=True))
    names = {"truth": {1: "mug"}, "labels": {1: "mug", 2: "can"}, "scores": {1: 0.5, 2: 0.9}}
    truth = row(s1=range(3), s2=range(3, 6))
    assert values(metric, (truth, truth), **names)[next(iter(metric.outputs))] == pytest.approx(1)


@pytest.mark.parametrize(
    "options",
    [{"classes": ["mug"]}, {"by_class": True, "classes": ["Mug", "mug"]}, {"report": ["mug"]}],
)
def test_impossible_class_options_are_refused(options):
    with pytest.raises(ValidationError):
        ClassOptions(**options)


def test_class_named_like_a_size_has_no_output_of_its_own():
    with pytest.raises(ConfigError, match="ap_small"):
        MaskAveragePrecision(ClassOptions(by_class=True, classes=("small",)))


def square(at: int, size: int = 20, label: int = 1) -> np.ndarray:
    mask = np.zeros((60, 80), np.int32)
    mask[at : at + size, at : at + size] = label
    return mask


def test_boundary_iou_compares_bands_of_assigned_segments():
    metric = MaskBoundary(BoundaryOptions(band=0.02))
    # Bands 2 pixels wide: 144 pixels each, of which a shift by one keeps 74.
    truth, prediction = square(20), np.roll(square(20, label=9), 1, axis=1)
    bands = [np.zeros((60, 80), bool) for _ in range(2)]
    for band, start in zip(bands, (20, 21), strict=True):
        band[20:40, start : start + 20] = True
        band[22:38, start + 2 : start + 18] = False
    expected = (bands[0] & bands[1]).sum() / (bands[0] | bands[1]).sum()
    got = values(metric, (truth, prediction))
    assert got["boundary_iou"] == pytest.approx(expected)
    assert got["boundary_f"] == 1


def test_boundary_f_forgives_what_lies_within_the_tolerance():
    near = MaskBoundary(BoundaryOptions(tolerance=0.03))
    far = MaskBoundary(BoundaryOptions(tolerance=0.005))
    pair = (square(20), np.roll(square(20), 3, axis=1))
    assert values(near, pair)["boundary_f"] == 1
    got = values(far, pair)
    assert 0 < got["boundary_f"] < 1
    p, r = got["boundary_precision"], got["boundary_recall"]
    assert got["boundary_f"] == pytest.approx(2 * p * r / (p + r))


def test_boundaries_of_one_side_alone_are_all_wrong():
    metric = MaskBoundary(BoundaryOptions())
    missed = values(metric, (square(20), np.zeros((60, 80))))
    assert (missed["boundary_f"], missed["boundary_recall"]) == (0, 0)
    assert missed["boundary_precision"] is None
    assert missed["boundary_iou"] == 0
    assert measure(metric, (np.zeros((60, 80)), np.zeros((60, 80)))) is None


def test_boundaries_beside_void_are_left_out():
    truth = square(20)
    truth[:, 45:] = -1
    prediction = square(20)
    prediction[:, 60:] = 7
    got = values(MaskBoundary(BoundaryOptions()), (truth, prediction))
    assert got["boundary_f"] == 1


def test_semantic_boundary_iou_is_the_mean_over_classes():
    metric = SemanticBoundary(BoundaryOptions())
    truth = square(20)
    assert values(metric, (truth, truth))["boundary_iou"] == 1
    got = values(metric, (truth, np.zeros((60, 80))))
    # Class 1 is missed; class 0 keeps its band along the border and loses that along the square.
    assert 0 < got["boundary_iou"] < 0.5
    swapped = values(metric, (truth, 1 - truth))
    assert swapped["boundary_iou"] == 0
    assert swapped["boundary_f"] == 1
