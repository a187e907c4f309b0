"""Trackers: who keeps an id, who gets a new one, and where their boxes come from."""

import numpy as np
import pytest

from rpx_core.contracts import Runtime, Sample, withhold
from rpx_core.errors import AdapterError, ConfigError, ModelError
from rpx_detection.tracking.adapters import wrap
from rpx_detection.tracking.models import iou_tracker, kalman_tracker
from rpx_detection.tracking.models.detectors import load_detector
from rpx_detection.tracking.models.motion import ConstantVelocity, Still
from rpx_detection.tracking.models.tracker import TrackerOptions
from rpx_detection.tracking.published import make_numpy_tracking_model
from rpx_detection.tracking.types import Detections, TrackingQuery


@pytest.fixture
def runtime(tmp_path):
    return Runtime("cpu", 0, tmp_path)


def given(*boxes, scores=None):
    """A frame whose detections are given."""
    scores = [1.0] * len(boxes) if scores is None else scores
    found = Detections(
        np.array(boxes, float).reshape(-1, 4), np.array(scores, float), ["cup"] * len(boxes)
    )
    return withhold(Sample("s", query=TrackingQuery(found)))


def iou(runtime, **options):
    return iou_tracker.load(TrackerOptions(detector="given", **options), runtime)


def kalman(runtime, **options):
    kind = kalman_tracker.KalmanTrackerOptions
    return kalman_tracker.load(kind(detector="given", **options), runtime)


def ids(tracker, *frames):
    return [[track.track_id for track in found.tracks] for found in tracker.predict(frames)]


A, B = (0, 0, 10, 10), (100, 0, 110, 10)


@pytest.mark.parametrize("load", [iou, kalman])
def test_objects_that_overlap_keep_their_ids_and_new_ones_get_new_ids(runtime, load):
    near = (2, 0, 12, 10)
    frames = [given(A, B), given(B, near), given(near, B, (50, 0, 60, 10))]
    assert ids(load(runtime), *frames) == [["1", "2"], ["2", "1"], ["1", "2", "3"]]


@pytest.mark.parametrize("load", [iou, kalman])
def test_boxes_and_scores_are_those_of_the_detector(runtime, load):
    (found,) = load(runtime).predict([given(A, scores=[0.25])])
    (track,) = found.tracks
    assert (track.boxes.tolist(), track.scores.tolist(), track.label) == ([[*A]], [0.25], "cup")


@pytest.mark.parametrize("load", [iou, kalman])
def test_reset_forgets_every_track(runtime, load):
    tracker = load(runtime)
    assert ids(tracker, given(A), given(A)) == [["1"], ["1"]]
    tracker.reset()
    assert ids(tracker, given(B, A)) == [["1", "2"]]


def test_a_track_survives_a_gap_of_the_length_allowed(runtime):
    gone = [given(A), given(), given(A), given(), given(), given(A)]
    assert ids(iou(runtime, max_gap=1), *gone) == [["1"], [], ["1"], [], [], ["2"]]
    assert ids(iou(runtime, max_gap=2), *gone)[-1] == ["1"]


def test_association_is_optimal_and_gated_before(runtime):
    # Greedily, the middle box would go to a and b would be left alone.
    frames = [given((0, 0, 10, 10), (6, 0, 16, 10)), given((2.9, 0, 12.9, 10), (-2, 0, 8, 10))]
    assert ids(iou(runtime, min_iou=0.3), *frames)[1] == ["2", "1"]
    far = given((8, 0, 18, 10))
    assert ids(iou(runtime, min_iou=0.3), given(A), far) == [["1"], ["2"]]


def test_low_scores_are_left_out(runtime):
    frame = given(A, B, scores=[0.9, 0.1])
    assert ids(iou(runtime, min_score=0.5), frame) == [["1"]]


def test_fast_objects_are_followed_by_the_kalman_tracker_alone(runtime):
    """Steps of six tenths of a box: overlap alone, 0.25, is too little."""
    steps = [given((6 * n, 0, 6 * n + 10, 10)) for n in range(6)]
    start = [given((4 * n, 0, 4 * n + 10, 10)) for n in range(3)]
    go_on = [given((8 + 6 * n, 0, 18 + 6 * n, 10)) for n in range(1, 4)]
    assert len({name for found in ids(iou(runtime), *steps) for name in found}) == 6
    assert {name for found in ids(kalman(runtime), *start, *go_on) for name in found} == {"1"}


def test_objects_that_cross_keep_their_ids_by_their_motion(runtime):
    frames = [given((9 * n, 0, 9 * n + 30, 30), (63 - 9 * n, 0, 93 - 9 * n, 30)) for n in range(8)]
    assert ids(kalman(runtime), *frames) == [["1", "2"]] * 8


def test_a_filter_of_constant_velocity_learns_the_velocity():
    motion = ConstantVelocity(noise=0.01, jolt=0.01, surprise=1.0)
    motion.add(np.array([[0.0, 0, 10, 20]]))
    for n in range(1, 8):
        motion.predict()
        motion.correct(np.array([0]), np.array([[3.0 * n, 2 * n, 3 * n + 10, 2 * n + 20]]))
    np.testing.assert_allclose(motion.predict(), [[24, 16, 34, 36]], atol=0.05)


def test_one_filter_step_by_hand():
    # Height 10: noise 1 px, velocity 5 px/frame, jolt 0. After a step the variance of the place is
    # 1 + 25, so a box 4 px further moves it by 4 * 26 / 27 and the velocity by 4 * 25 / 27.
    motion = ConstantVelocity(noise=0.1, jolt=1e-9, surprise=0.5)
    motion.add(np.array([[0.0, 0, 10, 10]]))
    np.testing.assert_allclose(motion.predict(), [[0, 0, 10, 10]])
    motion.correct(np.array([0]), np.array([[4.0, 0, 14, 10]]))
    moved = 4 * 26 / 27 + 4 * 25 / 27
    np.testing.assert_allclose(motion.predict(), [[moved, 0, moved + 10, 10]], atol=1e-9)


@pytest.mark.parametrize("motion", [Still(), ConstantVelocity(0.05, 0.02, 0.5)])
def test_tracks_are_known_by_their_row(motion):
    boxes = np.array([[0.0, 0, 10, 10], [20, 0, 30, 10], [40, 0, 50, 10]])
    motion.add(boxes)
    motion.keep(np.array([0, 2]))
    motion.add(np.array([[60.0, 0, 70, 10]]))
    motion.correct(np.array([1]), np.array([[41.0, 0, 51, 10]]))
    left = motion.predict()[:, 0]
    assert left[0] == pytest.approx(0)
    assert 40 < left[1] <= 41
    assert left[2] == pytest.approx(60)


def test_the_default_detector_finds_coloured_things(runtime):
    image = np.full((60, 80, 3), 200, np.uint8)
    image[20:50, 30:60] = (220, 20, 20)
    tracker = iou_tracker.load(TrackerOptions(), runtime)
    tracker.setup()
    (found,) = tracker.predict([withhold(Sample("s", rgb=image, query=TrackingQuery()))])
    surest = max(found.tracks, key=lambda track: track.scores[0])
    np.testing.assert_allclose(surest.boxes, [[30, 20, 60, 50]], atol=3)


def test_an_unknown_detector_lists_those_that_there_are(runtime):
    with pytest.raises(ConfigError, match="no detector 'magic'") as caught:
        load_detector("magic", runtime)
    assert "given" in caught.value.hint
    assert "blobs" in caught.value.hint


def test_detections_that_are_not_given_are_an_error(runtime):
    with pytest.raises(ModelError, match="gives no detections"):
        iou(runtime).predict([withhold(Sample("s", query=TrackingQuery()))])


class Counter:
    """A tracker as a callable with memory."""

    def __init__(self):
        self.frames = 0

    def __call__(self, rgb):
        self.frames += 1
        rgb[:] = 0
        return [{"track_id": self.frames, "box": [0, 0, 4, 5], "score": 0.5, "label": "cup"}]

    def reset(self):
        self.frames = 0


def test_a_function_becomes_a_tracker_with_its_own_memory():
    rgb = np.full((4, 5, 3), 7, np.uint8)
    model = make_numpy_tracking_model(Counter(), name="counter")
    assert (model.name, model.task) == ("counter", "object_tracking")
    sample = withhold(Sample("s", rgb=rgb))
    assert ids(model, sample, sample) == [["1"], ["2"]]
    model.reset()
    assert ids(model, sample) == [["1"]]
    assert (rgb == 7).all()


def test_a_function_without_reset_is_simply_called(runtime):
    model = wrap(lambda rgb: [], None, runtime)
    model.reset()
    assert ids(model, withhold(Sample("s", rgb=np.zeros((2, 2, 3), np.uint8)))) == [[]]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "is None"),
        ([{"track_id": 1, "box": [0, 0, 1]}], "four numbers"),
        ([{"track_id": 1, "box": [0, 0, 1, 1]}] * 2, "'1' occurs twice"),
    ],
)
def test_what_a_function_gets_wrong_names_it_and_the_sample(answer, message):
    model = make_numpy_tracking_model(lambda rgb: answer, name="mine")
    with pytest.raises(AdapterError, match=message) as caught:
        model.predict([withhold(Sample("s7", rgb=np.zeros((2, 2, 3), np.uint8)))])
    assert caught.value.message.startswith("sample s7: mine")


def test_a_function_needs_an_image():
    model = make_numpy_tracking_model(lambda rgb: [], name="mine")
    with pytest.raises(AdapterError, match="has no image"):
        model.predict([withhold(Sample("s"))])
