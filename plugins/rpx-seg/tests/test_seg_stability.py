"""Temporal stability of masks: the corrected and the published rule."""

from dataclasses import replace

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample, Undefined
from rpx_core.geometry import opencv_from_t265
from rpx_core.published.stability import turn_labels
from rpx_core.testing import values_of
from rpx_seg.metrics.stability import LabelStability, PublishedLabelStability
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
    return values_of(STABLE, STABLE.measure(previous, current))["ts"]


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
    assert (state.true_change, state.error, state.answered) == (0, 0, 30)
    assert values_of(STABLE, state) == {"ts": None, "ts_coverage": 0.75}
    carried[0, 0] = 99
    assert ts(frame(wide, wide), frame(carried, carried, shift=0.04)) == 1
    ignoring = STABLE.measure(frame(wide, wide), frame(carried, wide, shift=0.04))
    assert ignoring.error > 0


def test_void_pixels_are_not_followed():
    before, now = moved()
    hidden = np.where(now == 5, -1, now)
    state = STABLE.measure(frame(before), frame(hidden))
    assert state.answered == 40 - 6
    assert state.true_change == 3


@pytest.mark.parametrize(
    ("lack", "reason"),
    [
        ("camera_pose", "the camera pose is not known"),
        ("intrinsics", "the intrinsics are not known"),
        ("depth", "the true depth is not known"),
        ("measurements", "no pixel of the earlier frame has a depth"),
    ],
)
def test_without_geometry_it_says_what_is_missing(lack, reason):
    depth = {"depth": None, "measurements": 0.0}.get(lack, 2.0)
    frames = [frame(mask, depth=depth) for mask in moved()]
    if lack in {"camera_pose", "intrinsics"}:
        frames = [one._replace(sample=replace(one.sample, **{lack: None})) for one in frames]
    assert STABLE.measure(*frames) == Undefined(reason)


def rolled(angle: float) -> np.ndarray:
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return pose


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
    assert values_of(PUBLISHED, PUBLISHED.measure(*frames))["ts"] == 1


def test_published_metric_without_any_label_is_undefined():
    void = np.full(SHAPE, -1)
    measured = PUBLISHED.measure(frame(void), frame(void))
    assert measured == Undefined("neither mask holds a label")
