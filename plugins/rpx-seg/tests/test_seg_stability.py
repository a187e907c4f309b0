"""Temporal stability of masks: the corrected and the published rule."""

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample
from rpx_core.errors import MetricError
from rpx_core.geometry import opencv_from_t265
from rpx_seg.metrics.stability import LabelStability, PublishedLabelStability
from rpx_seg.published import compute_temporal_stability_seg
from rpx_seg.stability import published_pair_score, turn_labels
from rpx_seg.types import SegmentationGroundTruth, SegmentationPrediction

CAMERA = np.array([[100.0, 0, 3], [0, 100.0, 2], [0, 0, 1]])
SHAPE = (5, 8)
STABLE, PUBLISHED = LabelStability(), PublishedLabelStability()


def frame(truth, prediction=None, shift=0.0, depth: float | None = 2.0) -> Frame:
    """A frame of a camera `shift` metres to the right, 2 m before a wall."""
    pose = np.eye(4)
    pose[0, 3] = shift
    surface = None if depth is None else np.full(SHAPE, depth, np.float32)
    truth = np.asarray(truth, np.int32)
    return Frame(
        Sample("s", camera_pose=pose, intrinsics=CAMERA),
        SegmentationGroundTruth(truth, depth=surface),
        SegmentationPrediction(truth if prediction is None else np.asarray(prediction, np.int32)),
    )


def blank() -> np.ndarray:
    return np.zeros(SHAPE, np.int32)


def moved() -> tuple[np.ndarray, np.ndarray]:
    """An object that goes one column to the right, on its own: two true changes a row."""
    before, now = blank(), blank()
    before[1:4, 2:4] = 5
    now[1:4, 3:5] = 5
    return before, now


def ts(previous: Frame, current: Frame) -> float | None:
    state = STABLE.measure(previous, current)
    return None if state is None else STABLE.result(state)["ts"]


def test_truth_is_stable_and_a_constant_is_not():
    before, now = moved()
    assert ts(frame(before), frame(now)) == 1
    assert ts(frame(before, blank()), frame(now, blank())) == 0


def test_flicker_is_worse_than_a_constant():
    before, now = moved()
    flicker = blank()
    flicker[0] = 9
    assert ts(frame(before, before), frame(now, np.where(flicker, flicker, now))) == 1 - 8 / 6
    assert ts(frame(before, before), frame(now, now + 1)) < -3


def test_numbering_does_not_matter_but_changing_it_does():
    before, now = moved()
    assert ts(frame(before, before * 7), frame(now, now * 7)) == 1
    assert ts(frame(before, before), frame(now, now * 7)) == 1 - 3 / 6


def test_labels_are_followed_with_the_moving_camera():
    # 0.04 m at focal length 100 and 2 m of depth are two pixels.
    wide = np.tile(np.arange(8), (5, 1))
    carried = np.roll(wide, -2, axis=1)
    still = frame(wide), frame(carried, shift=0.04)
    state = STABLE.measure(*still)
    assert (int(state.changed), int(state.error), int(state.judged)) == (0, 0, 30)
    assert STABLE.result(state) == {"ts": None, "ts_coverage": 0.75}
    carried[0, 0] = 99
    assert ts(frame(wide, wide), frame(carried, carried, shift=0.04)) == 1
    ignoring = STABLE.measure(frame(wide, wide), frame(carried, wide, shift=0.04))
    assert int(ignoring.error) > 0


def test_void_pixels_are_not_followed():
    before, now = moved()
    hidden = np.where(now == 5, -1, now)
    state = STABLE.measure(frame(before), frame(hidden))
    assert int(state.judged) == 40 - 6
    assert int(state.changed) == 3


@pytest.mark.parametrize("lack", ["depth", "pose", "intrinsics", "measurements"])
def test_without_geometry_it_is_undefined(lack):
    frames = [frame(mask, depth=None if lack == "depth" else 2.0) for mask in moved()]
    if lack == "pose":
        frames = [f._replace(sample=Sample("s", intrinsics=CAMERA)) for f in frames]
    if lack == "intrinsics":
        frames = [f._replace(sample=Sample("s", camera_pose=np.eye(4))) for f in frames]
    if lack == "measurements":
        frames = [frame(mask, depth=0.0) for mask in moved()]
    assert STABLE.measure(*frames) is None


# The published example.
def test_published_score():
    masks = [np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 1]])]
    result = compute_temporal_stability_seg(masks, [None, None])
    assert result.ts_score == pytest.approx(0.5833, abs=5e-5)
    assert (result.num_pairs, list(result.per_pair)) == (1, [result.ts_score])


def test_published_sentinels_are_kept():
    assert compute_temporal_stability_seg([blank()], [None]).ts_score == 1
    nothing = np.full((2, 2), -1)
    assert compute_temporal_stability_seg([nothing, nothing], [None, None]).ts_score == 1
    assert published_pair_score((nothing, nothing), (None, None)) is None


def test_published_score_needs_a_pose_or_none_per_mask_and_equal_shapes():
    with pytest.raises(MetricError, match="2 masks with 1 poses"):
        compute_temporal_stability_seg([blank(), blank()], [None])
    with pytest.raises(MetricError, match="equal shapes"):
        published_pair_score((blank(), np.zeros((2, 2), int)), (None, None))


def rolled(angle: float) -> np.ndarray:
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return pose


def test_published_warp_turns_by_the_roll_alone():
    mask = np.arange(16).reshape(4, 4)
    later = turn_labels(mask, np.pi / 2)
    # A quarter turn: row r, column c shows row c, column 4 - r; row 0 comes from outside.
    assert later[0].tolist() == [-1] * 4
    np.testing.assert_array_equal(later[1:], mask[:, :0:-1].T)
    np.testing.assert_array_equal(turn_labels(mask, 0.0), mask)
    poses = (np.eye(4), rolled(np.pi / 2))
    assert published_pair_score((later, mask), poses) == 1
    assert published_pair_score((later, mask), poses[::-1]) < 0.2


def test_published_metric_turns_in_the_axes_of_the_tracker():
    mask = np.arange(16, dtype=np.int32).reshape(4, 4)
    later = turn_labels(mask, np.pi / 2).astype(np.int32)
    frames = [
        Frame(
            Sample("s", camera_pose=opencv_from_t265(pose)),
            SegmentationGroundTruth(one),
            SegmentationPrediction(one),
        )
        for one, pose in ((later, np.eye(4)), (mask, rolled(np.pi / 2)))
    ]
    assert PUBLISHED.result(PUBLISHED.measure(*frames))["ts"] == 1


def test_published_metric_without_any_label_is_undefined():
    void = np.full(SHAPE, -1)
    assert PUBLISHED.measure(frame(void), frame(void)) is None
