"""What counts: classes, distractors, ignored regions, frames that were given to the model."""

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample
from rpx_core.errors import MetricError
from rpx_core.state import fold
from rpx_detection.tracking.metrics.clear import Clear
from rpx_detection.tracking.metrics.hota import Hota
from rpx_detection.tracking.metrics.identity import Identity
from rpx_detection.tracking.metrics.options import MatchingOptions, TrackingOptions
from rpx_detection.tracking.types import Tracklet, TrackletGroundTruth, TrackletPrediction

CLEAR = Clear(MatchingOptions())


def track(name, box, label=None):
    return Tracklet(name, np.array([box], float), label=label)


def frame(truth, prediction, number=0, **rest):
    ground_truth = TrackletGroundTruth(truth, **rest)
    return Frame(Sample(str(number)), ground_truth, TrackletPrediction(prediction))


def score(metric, *frames):
    return metric.result(metric.measure(frames))


A = (0, 0, 10, 10)
FAR = (50, 0, 60, 10)


def test_rw069_the_truth_itself_is_perfect_when_it_holds_distractors():
    found = [track("1", A), track("2", FAR)]
    got = score(CLEAR, frame([found[0]], found, distractors=[found[1]]))
    assert (got["mota"], got["fp"], got["tp"]) == (1.0, 0, 1)
    assert score(CLEAR, frame([found[0]], found))["mota"] == 0.0


def test_a_distractor_excuses_one_prediction_that_reaches_half_of_it():
    spare = [track("2", FAR), track("3", (50, 0, 60, 9))]
    truth = {"truth": [track("1", A)], "distractors": [track("d", FAR)]}
    assert score(CLEAR, frame(prediction=[track("1", A), *spare], **truth))["fp"] == 1
    assert score(CLEAR, frame(prediction=[track("2", (50, 0, 60, 5))], **truth))["fp"] == 0
    assert score(CLEAR, frame(prediction=[track("2", (50, 0, 60, 4.9))], **truth))["fp"] == 1


def test_what_matches_an_object_that_counts_is_not_excused():
    # One prediction, over both: it fits the object better, so it stays its match.
    crowd = frame([track("1", A)], [track("p", A)], distractors=[track("d", (0, 0, 10, 8))])
    assert score(CLEAR, crowd)["tp"] == 1


def test_a_bystander_takes_its_match_and_excuses_nothing():
    # The prediction fits the bystander better than the distractor, so nothing excuses it.
    near, nearer = (0, 0, 10, 8), (0, 0, 10, 9)
    both = {"distractors": [track("d", near)], "bystanders": [track("b", nearer)]}
    assert score(CLEAR, frame([], [track("p", A)], **both))["fp"] == 1
    assert score(CLEAR, frame([], [track("p", A)], distractors=both["distractors"]))["fp"] == 0


@pytest.mark.parametrize(("width", "false"), [(5.1, 0), (5.0, 1), (4.0, 1)])
def test_a_region_excuses_what_lies_in_it_for_more_than_half(width, false):
    region = np.array([[0.0, 0.0, width, 100.0]])
    got = score(CLEAR, frame([], [track("p", A)], ignored_regions=region))
    assert got["fp"] == false


def test_a_region_does_not_take_a_match_away():
    region = np.array([[0.0, 0.0, 100.0, 100.0]])
    got = score(CLEAR, frame([track("1", A)], [track("p", A)], ignored_regions=region))
    assert (got["tp"], got["fn"]) == (1, 0)


def test_several_small_regions_do_not_add_up():
    regions = np.array([[0.0, 0.0, 4.0, 10.0], [6.0, 0.0, 10.0, 10.0]])
    assert score(CLEAR, frame([], [track("p", A)], ignored_regions=regions))["fp"] == 1


def test_regions_of_one_frame_do_not_excuse_in_another():
    region = np.array([[0.0, 0.0, 100.0, 100.0]])
    frames = [
        frame([], [track("p", A)], 0),
        frame([], [track("p", A)], 1, ignored_regions=region),
    ]
    assert score(CLEAR, *frames)["fp"] == 1


LABELLED = [
    frame(
        [track("1", A, "cup"), track("2", FAR, "box")],
        [track("1", A, "cup"), track("2", FAR, "cup")],
    )
]


def test_without_classes_labels_do_not_matter():
    assert score(CLEAR, *LABELLED)["mota"] == 1.0


def test_one_class_is_scored_alone():
    cup = score(Clear(MatchingOptions(classes=("cup",))), *LABELLED)
    box = score(Clear(MatchingOptions(classes=("box",))), *LABELLED)
    assert (cup["tp"], cup["fp"], cup["mota"]) == (1, 1, 0.0)
    assert (box["tp"], box["fn"], box["mota"], box["precision"]) == (0, 1, 0.0, None)


def test_scores_of_classes_are_averaged_and_counts_added():
    options = MatchingOptions(classes=("cup", "box", "bowl"))
    got = score(Clear(options), *LABELLED)
    assert (got["tp"], got["fp"], got["fn"]) == (1, 1, 1)
    assert got["recall"] == 0.5  # cup 1, box 0; no bowl is there
    assert got["precision"] == 0.5  # cup 1/2; no box is predicted
    identity = score(Identity(options), *LABELLED)
    assert identity["idf1"] == pytest.approx((2 / 3 + 0) / 2)
    hota = score(Hota(TrackingOptions(classes=("cup", "box"))), *LABELLED)
    assert hota["deta"] == pytest.approx((1 / 2 + 0) / 2)
    assert hota["sequences_without_match"] == 1


def test_pooling_keeps_classes_apart():
    metric = Clear(MatchingOptions(classes=("cup", "box")))
    only_cup = [frame([track("1", A, "cup")], [track("1", A, "cup")])]
    pooled = metric.result(fold([metric.measure(LABELLED), metric.measure(only_cup)]))
    assert pooled["recall"] == pytest.approx((2 / 2 + 0 / 1) / 2)
    assert pooled["precision"] == pytest.approx(2 / 3)


def test_a_distractor_of_another_class_excuses_nothing():
    metric = Clear(MatchingOptions(classes=("car",)))
    for label, false in (("car", 0), (None, 0), ("bus", 1)):
        found = frame([], [track("p", A, "car")], distractors=[track("d", A, label)])
        assert score(metric, found)["fp"] == false


@pytest.mark.parametrize("side", ["truth", "prediction"])
def test_scoring_by_class_needs_labels(side):
    sides = {"truth": [track("1", A, "cup")], "prediction": [track("1", A, "cup")]}
    sides[side] = [track("7", A)]
    with pytest.raises(MetricError, match="'7' has no label"):
        Clear(MatchingOptions(classes=("cup",))).measure([frame(**sides)])


def test_rw034_the_frame_given_to_the_model_does_not_count_and_ghosts_do():
    seen, ghost = [track("1", A)], [track("1", A)]
    frames = [frame(seen, [], 0), frame(seen, seen, 1), frame([], [], 2), frame(seen, seen, 3)]
    metric = Clear(MatchingOptions(skip_frames=1))
    assert score(metric, *frames)["mota"] == 1.0
    frames[2] = frame([], ghost, 2)
    got = score(metric, *frames)
    assert (got["fp"], got["fn"], got["mota"]) == (1, 0, 0.5)


def test_a_sequence_of_skipped_frames_alone_is_undefined():
    metric = Clear(MatchingOptions(skip_frames=1))
    assert metric.measure([frame([track("1", A)], [])]) is None
