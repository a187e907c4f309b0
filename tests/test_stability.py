"""The rules of temporal stability, with a toy task of numbers at surface points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from rpx_core.contracts import Frame, Output, Sample, Undefined
from rpx_core.geometry import opencv_from_t265
from rpx_core.stability import (
    ChangeSums,
    PairScores,
    Poses,
    PublishedStability,
    TemporalStability,
    compare_changes,
    published_outputs,
    stability_outputs,
    temporal_stability,
    view_of,
)
from rpx_core.state import decode_state, encode_state, fold
from rpx_core.testing import values_of
from rpx_core.warp import PixelPairs, View

Map = NDArray[np.float64]

CAMERA = np.array([[100.0, 0, 3.0], [0, 80.0, 2.0], [0, 0, 1]])
SHAPE = (5, 8)
WALL = np.full(SHAPE, 2.0)

maps = arrays(np.float64, SHAPE, elements=st.floats(-4, 4, width=16))


class ToyStability(TemporalStability):
    version = "1"
    outputs = stability_outputs(Output(better=None))

    def view(self, frame: Frame) -> View | Undefined:
        return view_of(frame.sample.query, frame.sample.intrinsics, frame.sample.camera_pose)

    def compare(self, previous: Frame, current: Frame, pairs: PixelPairs) -> ChangeSums:
        before, now = pairs.values(previous.prediction, current.prediction)
        then, later = pairs.values(previous.truth, current.truth)
        return compare_changes(now - before, later - then)


class ToyPublished(PublishedStability):
    version = "1"
    outputs = published_outputs("numbers")

    def score(self, previous: Any, current: Any, poses: Poses) -> float | Undefined:
        first, second = poses
        if first is None or second is None:
            return Undefined("no poses")
        return float(second[1, 3] - first[1, 3])


METRIC, PUBLISHED = ToyStability(), ToyPublished()


def frame(truth: Map, prediction: Map, **known: Any) -> Frame:
    given_ = {"camera_pose": np.eye(4), "intrinsics": CAMERA, "query": WALL, **known}
    return Frame(Sample("s", **given_), truth, prediction)


def moving(*changes: float) -> tuple[Map, Map]:
    before = np.full(SHAPE, 2.0)
    after = before.copy()
    after.reshape(-1)[: len(changes)] += changes
    return before, after


def measured(predictions: tuple[Map, Map], truths: tuple[Map, Map]) -> ChangeSums:
    frames = [frame(*images) for images in zip(truths, predictions, strict=True)]
    state = METRIC.measure(*frames)
    assert isinstance(state, ChangeSums)
    return state


def ts(predictions: tuple[Map, Map], truths: tuple[Map, Map]) -> float | None:
    return values_of(METRIC, measured(predictions, truths))["ts"]


def test_truth_is_stable_and_a_constant_is_not() -> None:
    truths = moving(0.25, -0.5, 0.25)
    assert ts(truths, truths) == 1.0
    assert ts(moving(), truths) == 0.0


def test_stability_is_the_share_of_change_that_was_followed() -> None:
    state = measured(moving(0.25, -0.25, 0, 0.25), moving(0.5, -0.5))
    assert state == ChangeSums(truth_pixels=40, answered=40, error=0.75, true_change=1.0)
    assert values_of(METRIC, state) == {"ts": 0.25, "ts_coverage": 1.0}


def test_opposite_change_is_worse_than_none() -> None:
    assert ts(moving(-0.5), moving(0.5)) == -1.0


def test_a_constant_offset_is_stable() -> None:
    before, after = moving(0.25, -0.5)
    assert ts((before + 1, after + 1), (before, after)) == 1.0


def test_nothing_changed_is_undefined() -> None:
    assert ts(moving(0.5), moving()) is None
    assert temporal_stability(ChangeSums()) is None


def test_unanswered_points_cost_coverage_alone() -> None:
    before, after = moving(0.5, 0.5)
    after[0, 0] = np.nan
    state = measured((before, after), moving(0.5, 0.5))
    assert state == ChangeSums(truth_pixels=40, answered=39, error=0.0, true_change=0.5)
    assert values_of(METRIC, state) == {"ts": 1.0, "ts_coverage": 39 / 40}


def test_pairs_of_frames_add_up() -> None:
    states = [measured(moving(0.25), moving(0.5)), measured(moving(), moving(1.5))]
    assert temporal_stability(states[0] + states[1]) == 1 - 1.75 / 2.0
    assert values_of(METRIC, fold(states))["ts"] == 1 - 1.75 / 2.0


@given(recording=st.lists(maps, min_size=4, max_size=4))
def test_states_survive_bytes_and_no_offset_or_scale_of_both_matters(recording: list[Map]) -> None:
    truths, predictions = (recording[0], recording[1]), (recording[2], recording[3])
    state = measured(predictions, truths)
    assert values_of(METRIC, decode_state(ChangeSums, encode_state(state))) == values_of(
        METRIC, state
    )
    shifted = [tuple(2 * one + 1 for one in pair) for pair in (predictions, truths)]
    value, again = values_of(METRIC, state)["ts"], ts(*shifted)
    assert again == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ({"camera_pose": None}, "the camera pose is not known"),
        ({"intrinsics": None}, "the intrinsics are not known"),
        ({"query": None}, "the true depth is not known"),
    ],
)
def test_a_pair_without_geometry_says_what_is_missing(missing: Any, reason: str) -> None:
    lost, whole = frame(WALL, WALL, **missing), frame(WALL, WALL)
    assert METRIC.measure(whole, lost) == Undefined(reason)
    assert METRIC.measure(lost, whole) == Undefined(reason)


def test_a_pair_whose_earlier_frame_has_no_depth_is_undefined() -> None:
    nothing, whole = frame(WALL, WALL, query=0 * WALL), frame(WALL, WALL)
    reason = Undefined("no pixel of the earlier frame has a depth")
    assert METRIC.measure(nothing, whole) == reason
    coverage = values_of(METRIC, METRIC.measure(whole, nothing))["ts_coverage"]
    assert coverage == 0


def test_published_scores_are_averaged_over_pairs() -> None:
    assert values_of(PUBLISHED, fold([PairScores(1, 0.5), PairScores(1, 1.0)])) == {"ts": 0.75}
    assert PUBLISHED.outputs["ts"].headline == METRIC.outputs["ts"].headline == "sample"


def test_published_scores_see_poses_in_the_axes_of_the_tracker() -> None:
    up = np.eye(4)
    up[1, 3] = 0.5
    frames = [frame(WALL, WALL, camera_pose=opencv_from_t265(one)) for one in (np.eye(4), up)]
    assert PUBLISHED.measure(*frames) == PairScores(1, 0.5)


def test_a_published_score_that_is_undefined_says_why() -> None:
    lost = frame(WALL, WALL, camera_pose=None)
    assert PUBLISHED.measure(lost, frame(WALL, WALL)) == Undefined("no poses")
