"""What holds for every tracking metric, whatever the sequence."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core import testing as laws
from rpx_core.contracts import Frame, Sample
from rpx_detection.tracking.hota import HotaSums, hota_curves, measure_hota
from rpx_detection.tracking.metrics.clear import Clear
from rpx_detection.tracking.metrics.greedy import Greedy
from rpx_detection.tracking.metrics.hota import Hota
from rpx_detection.tracking.metrics.identity import Identity
from rpx_detection.tracking.metrics.options import MatchingOptions, TrackingOptions
from rpx_detection.tracking.selection import build_clip
from rpx_detection.tracking.types import Tracklet, TrackletGroundTruth, TrackletPrediction

CLASSES = ("cup", "box")
METRICS = [
    Hota(TrackingOptions()),
    Clear(MatchingOptions()),
    Identity(MatchingOptions()),
    Hota(TrackingOptions(classes=CLASSES)),
    Clear(MatchingOptions(classes=CLASSES)),
    Identity(MatchingOptions(classes=CLASSES)),
    Greedy(),
]
SYMMETRIC = METRICS[:6]
"""The metrics that do not depend on the order of lists."""
WORSE = {"hota": METRICS[0], "deta": METRICS[0], "mota": METRICS[1], "idf1": METRICS[2]}


def noisy(rng, tracks, share):
    kept = [track for track in tracks if rng.random() < share]
    return [
        Tracklet(
            str(rng.integers(5)) if rng.random() < 0.1 else track.track_id,
            track.boxes + rng.normal(0, 1.5, 2).repeat(2).reshape(2, 2).T.reshape(1, 4),
            label=track.label,
        )
        for track in kept
    ]


def unique(tracks):
    return list({track.track_id: track for track in tracks}.values())


@st.composite
def sequences(draw):
    """A few drifting objects, some missed, shifted or renamed; empty frames on either side."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    frames = draw(st.integers(1, 6))
    objects = draw(st.integers(0, 4))
    share = draw(st.sampled_from([0.0, 0.6, 1.0]))
    corner = rng.uniform(0, 20, (objects, 2))
    size = rng.uniform(4, 12, (objects, 2))
    found = []
    for number in range(frames):
        corner = corner + rng.normal(0, 1, corner.shape)
        boxes = np.concatenate([corner, corner + size], axis=1)
        truth = [
            Tracklet(str(k), box[None], label=CLASSES[k % 2])
            for k, box in enumerate(boxes)
            if rng.random() < 0.8
        ]
        prediction = unique(noisy(rng, truth, share))
        found.append(Frame(Sample(str(number)), TrackletGroundTruth(truth),
                           TrackletPrediction(prediction)))  # fmt: skip
    return found


def with_sides(frames, truth=None, prediction=None):
    """The same frames with other tracks on a side."""
    return [
        Frame(
            frame.sample,
            TrackletGroundTruth(frame.truth.tracks if truth is None else truth[n]),
            TrackletPrediction(frame.prediction.tracks if prediction is None else prediction[n]),
        )
        for n, frame in enumerate(frames)
    ]


def perfect(frames):
    return with_sides(frames, prediction=[frame.truth.tracks for frame in frames])


def result(metric, frames):
    return metric.result(metric.measure(frames))


def renamed(tracks, names):
    return [Tracklet(names(t.track_id), t.boxes, t.scores, t.label) for t in tracks]


def same(values, others):
    """Equal but for rounding, and undefined together."""
    plain = [
        {name: np.nan if value is None else value for name, value in side.items()}
        for side in (values, others)
    ]
    return plain[0] == pytest.approx(plain[1], rel=1e-12, abs=1e-12, nan_ok=True)


@given(sequences())
def test_truth_as_prediction_is_perfect(frames):
    for metric in METRICS:
        for name, value in result(metric, perfect(frames)).items():
            best = metric.outputs[name].best
            if best is not None and value is not None:
                assert value == pytest.approx(best, abs=1e-12), name


@given(sequences(), st.integers(0, 2**32 - 1))
def test_order_in_a_frame_does_not_matter(frames, seed):
    rng = np.random.default_rng(seed)

    def shuffled(tracks):
        return [tracks[k] for k in rng.permutation(len(tracks))]

    other = with_sides(
        frames,
        [shuffled(frame.truth.tracks) for frame in frames],
        [shuffled(frame.prediction.tracks) for frame in frames],
    )
    for metric in SYMMETRIC:
        assert result(metric, other) == result(metric, frames)


@given(sequences())
def test_names_of_tracks_do_not_matter(frames):
    def reversed_name(name):
        return chr(1000 - int(name))

    other = with_sides(
        frames,
        [renamed(frame.truth.tracks, reversed_name) for frame in frames],
        [renamed(frame.prediction.tracks, reversed_name) for frame in frames],
    )
    for metric in SYMMETRIC:
        assert same(result(metric, other), result(metric, frames))


@given(st.lists(sequences(), min_size=2, max_size=4), st.data())
def test_pooling_does_not_depend_on_order_or_grouping(recordings, data):
    for metric in METRICS:
        states = [metric.measure(frames) for frames in recordings]
        laws.check_order(metric, states, data.draw(st.permutations(range(len(states)))))
        laws.check_split(metric, states, data.draw(st.integers(0, len(states))))


@given(sequences())
def test_states_survive_the_journal(frames):
    for metric in METRICS:
        laws.check_storage(metric, laws.measure_all(metric, frames))


@given(sequences())
def test_inputs_are_not_changed(frames):
    before = deepcopy([(f.truth.tracks, f.prediction.tracks) for f in frames])
    for metric in METRICS:
        metric.measure(frames)
    for frame, sides in zip(frames, before, strict=True):
        for tracks, copies in zip(
            (frame.truth.tracks, frame.prediction.tracks), sides, strict=True
        ):
            assert [t.track_id for t in tracks] == [t.track_id for t in copies]
            assert all(
                np.array_equal(a.boxes, b.boxes) for a, b in zip(tracks, copies, strict=True)
            )


def swapped(frames, moment):
    """The truth as prediction; from a frame on, objects 0 and 1 bear each other's name."""
    swap = {"0": "1", "1": "0"}
    return with_sides(
        frames,
        prediction=[
            renamed(frame.truth.tracks, lambda name: swap.get(name, name))
            if number >= moment
            else frame.truth.tracks
            for number, frame in enumerate(frames)
        ],
    )


@given(sequences(), st.integers(1, 5))
def test_swapping_two_ids_never_improves(frames, moment):
    assert_not_better(perfect(frames), swapped(frames, moment))


@given(st.integers(2, 8), st.data())
def test_swapping_two_ids_of_objects_apart_costs_the_shorter_part(length, data):
    moment = data.draw(st.integers(1, length - 1))
    apart = [Tracklet(str(k), np.array([[50.0 * k, 0, 50 * k + 10, 10]])) for k in range(2)]
    empty = [Frame(Sample(str(n)), None, TrackletPrediction([])) for n in range(length)]
    frames = swapped(with_sides(empty, truth=[apart] * length), moment)
    assert result(METRICS[1], frames)["idsw"] == 2
    longer = max(moment, length - moment)
    assert result(METRICS[2], frames)["idf1"] == pytest.approx(longer / length)
    # A of a match of m of `length` boxes is m / (2 length - m).
    parts = [m / (2 * length - m) * m / length for m in (moment, length - moment)]
    assert result(METRICS[0], frames)["assa"] == pytest.approx(sum(parts))
    assert result(METRICS[0], frames)["deta"] == 1


@given(sequences(), st.integers(0, 20))
def test_dropping_an_object_never_improves_and_is_a_miss(frames, place):
    present = [(n, k) for n, f in enumerate(frames) for k in range(len(f.truth.tracks))]
    if not present:
        return
    number, dropped = present[place % len(present)]
    kept = [list(frame.truth.tracks) for frame in frames]
    del kept[number][dropped]
    worse = with_sides(frames, prediction=kept)
    assert_not_better(perfect(frames), worse)
    assert result(METRICS[1], worse)["fn"] == 1
    assert result(METRICS[2], worse)["idfn"] == 1
    hota = result(METRICS[0], worse)["hota"]
    assert hota is not None
    assert hota < 1


@given(sequences(), st.integers(1, 3))
def test_false_alarms_never_improve_and_are_counted(frames, number):
    alarms = [
        Tracklet(f"alarm {k}", np.array([[1000.0 + 50 * k, 0, 1010 + 50 * k, 10]]), label="cup")
        for k in range(number)
    ]
    worse = with_sides(frames, prediction=[[*f.prediction.tracks, *alarms] for f in frames])
    assert_not_better(frames, worse)
    counts = [result(METRICS[1], some)["fp"] for some in (frames, worse)]
    assert counts[1] - counts[0] == number * len(frames)


@given(sequences())
def test_hota_is_the_geometric_mean_at_every_threshold(frames):
    sums = kernel_sums(frames)
    curves = hota_curves(sums)
    np.testing.assert_allclose(curves["hota"] ** 2, curves["deta"] * curves["assa"], atol=1e-12)
    assert (np.diff(sums.matched) <= 0).all()
    for name, curve in curves.items():
        assert ((curve >= 0) & (curve <= 1 + 1e-12)).all(), name


@given(sequences(), st.floats(0.05, 0.5), st.floats(0, 0.5))
def test_a_stricter_threshold_never_finds_more_identities(frames, low, more):
    lax, strict = (Identity(MatchingOptions(min_iou=iou)) for iou in (low, low + more))
    assert result(strict, frames)["idtp"] <= result(lax, frames)["idtp"]


@given(sequences())
def test_counts_add_up(frames):
    truths = sum(len(frame.truth.tracks) for frame in frames)
    predictions = sum(len(frame.prediction.tracks) for frame in frames)
    clear, identity = result(METRICS[1], frames), result(METRICS[2], frames)
    assert clear["tp"] + clear["fn"] == identity["idtp"] + identity["idfn"] == truths
    assert clear["tp"] + clear["fp"] == identity["idtp"] + identity["idfp"] == predictions
    tracks = {t.track_id for frame in frames for t in frame.truth.tracks}
    assert clear["mt"] + clear["pt"] + clear["ml"] == len(tracks)


def kernel_sums(frames) -> HotaSums:
    truths = [frame.truth for frame in frames]
    return measure_hota(build_clip(truths, [frame.prediction for frame in frames], None))


def assert_not_better(frames, worse):
    for name, metric in WORSE.items():
        before, after = result(metric, frames)[name], result(metric, worse)[name]
        if before is not None and after is not None:
            assert after <= before + 1e-12, name
