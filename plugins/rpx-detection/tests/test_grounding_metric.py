"""Grounding accuracy: worked examples and known traps."""

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_core.state import fold
from rpx_detection.metrics.grounding import GroundingAccuracy
from rpx_detection.types import VisualGroundingGroundTruth, VisualGroundingPrediction

METRIC = GroundingAccuracy()
BOX = (0, 0, 10, 10)


def case(targets, answers, scores=None):
    ranks = np.ones(len(answers)) if scores is None else np.array(scores, np.float64)
    return METRIC.measure(
        Sample("s"),
        VisualGroundingGroundTruth("it", np.array(targets, np.float64).reshape(-1, 4)),
        VisualGroundingPrediction(np.array(answers, np.float64).reshape(-1, 4), ranks),
    )


def test_best_scored_box_answers_whatever_its_place():
    # RW-057
    values = METRIC.result(case([BOX], [(50, 50, 60, 60), BOX], [0.2, 0.9]))
    assert (values["acc50"], values["iou"], values["tied"]) == (1.0, 1.0, 0.0)


def test_overlap_of_exactly_one_half_counts():
    # RW-059
    values = METRIC.result(case([BOX], [(0, 0, 10, 5)]))
    assert [values[name] for name in ("acc25", "acc50", "acc75")] == [1.0, 1.0, 0.0]
    assert values["iou"] == 0.5


def test_any_of_several_referents_will_do():
    assert METRIC.result(case([(50, 50, 60, 60), BOX], [BOX]))["acc75"] == 1.0


def test_equal_best_scores_are_decided_by_geometry_and_counted():
    for answers in ([BOX, (50, 50, 60, 60)], [(50, 50, 60, 60), BOX]):
        values = METRIC.result(case([BOX], answers, [0.7, 0.7]))
        assert (values["iou"], values["tied"]) == (1.0, 1.0)
    assert METRIC.result(case([BOX], [BOX, BOX], [0.7, 0.7]))["tied"] == 0.0


def test_expressions_without_a_referent_have_a_number_of_their_own():
    refused, answered = case([], []), case([], [BOX])
    for state, refusal in ((refused, 1.0), (answered, 0.0)):
        values = METRIC.result(state)
        assert values["refusal"] == refusal
        assert (values["acc50"], values["iou"], values["answered"]) == (None, None, None)
    values = METRIC.result(fold([refused, answered, case([BOX], [BOX])]))
    assert (values["refusal"], values["acc50"], values["iou"]) == (0.5, 1.0, 1.0)


def test_no_answer_is_a_miss():
    values = METRIC.result(fold([case([BOX], []), case([BOX], [BOX])]))
    assert values["acc25"] == values["iou"] == values["answered"] == 0.5
    assert values["refusal"] is None


@pytest.mark.parametrize("shape", [(0,), (0, 4)])
def test_empty_arrays_of_either_shape_are_no_answer(shape):
    state = METRIC.measure(
        Sample("s"),
        VisualGroundingGroundTruth("it", np.array([BOX], np.float64)),
        VisualGroundingPrediction(np.zeros(shape), np.zeros(0)),
    )
    assert METRIC.result(state)["answered"] == 0.0
