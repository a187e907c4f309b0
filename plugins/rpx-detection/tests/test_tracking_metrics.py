"""Every tracking number on sequences small enough to count by hand, and on known traps."""

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample
from rpx_core.state import fold
from rpx_detection.tracking.metrics.clear import Clear
from rpx_detection.tracking.metrics.greedy import Greedy
from rpx_detection.tracking.metrics.hota import Hota
from rpx_detection.tracking.metrics.identity import Identity
from rpx_detection.tracking.metrics.options import MatchingOptions, TrackingOptions
from rpx_detection.tracking.types import Tracklet, TrackletGroundTruth, TrackletPrediction

HOTA = Hota(TrackingOptions())
CLEAR = Clear(MatchingOptions())
IDENTITY = Identity(MatchingOptions())
GREEDY = Greedy()

A = (0, 0, 10, 10)
B = (100, 0, 110, 10)
AWAY = (200, 0, 210, 10)


def sequence(truth, prediction, frames):
    """Frames from `{track: {frame: box}}` of both sides."""
    sides = [
        [
            [Tracklet(str(k), np.array([b[n]], float)) for k, b in tracks.items() if n in b]
            for n in range(frames)
        ]
        for tracks in (truth, prediction)
    ]
    return [
        Frame(Sample(str(n)), TrackletGroundTruth(a), TrackletPrediction(b))
        for n, (a, b) in enumerate(zip(*sides, strict=True))
    ]


def always(box, frames):
    return dict.fromkeys(frames, box)


def values(metric, frames):
    return metric.result(metric.measure(frames))


@pytest.fixture(scope="module")
def mixed():
    """Truth a (4 frames) is p, p, nobody, q; truth b (3 frames) is r at IoU 0.82; x is nothing."""
    return sequence(
        {"a": always(A, range(4)), "b": always(B, range(3))},
        {
            "p": always(A, range(2)),
            "q": {3: A},
            "r": always((100, 0, 110, 8.2), range(3)),
            "x": {1: AWAY},
        },
        4,
    )


def test_hota_by_hand(mixed):
    # 16 thresholds up to 0.80 see 6 matches, 3 from 0.85 on see those of a alone.
    low = {"deta": 6 / 8, "detre": 6 / 7, "detpr": 6 / 7, "loca": (3 + 3 * 0.82) / 6}
    high = {"deta": 3 / 11, "detre": 3 / 7, "detpr": 3 / 7, "loca": 1.0}
    # A(c): p and a 2 / (4 + 2 - 2), twice; q and a 1 / (4 + 1 - 1); r and b 1, three times.
    low |= {"assa": (2 * 0.5 + 0.25 + 3) / 6, "assre": (2 * 0.5 + 0.25 + 3) / 6, "asspr": 1.0}
    high |= {"assa": (2 * 0.5 + 0.25) / 3, "assre": (2 * 0.5 + 0.25) / 3, "asspr": 1.0}
    for part in (low, high):
        part["hota"] = np.sqrt(part["deta"] * part["assa"])
        part["owta"] = np.sqrt(part["detre"] * part["assa"])
    got = values(HOTA, mixed)
    for name, value in low.items():
        assert got[name] == pytest.approx((16 * value + 3 * high[name]) / 19, abs=1e-12), name
    assert got["hota_50"] == pytest.approx(low["hota"])
    assert got["hota_0"] == pytest.approx(low["hota"])
    assert got["loca_0"] == pytest.approx(low["loca"])
    assert got["hotaloca_0"] == pytest.approx(low["hota"] * low["loca"])
    assert got["sequences_without_match"] == 0


def test_clear_by_hand(mixed):
    got = values(CLEAR, mixed)
    counts = {name: got[name] for name in ("tp", "fp", "fn", "idsw", "frag", "mt", "pt", "ml")}
    assert counts == {"tp": 6, "fp": 1, "fn": 1, "idsw": 1, "frag": 1, "mt": 1, "pt": 1, "ml": 0}
    assert got["mota"] == pytest.approx(1 - 3 / 7)
    assert got["motp"] == pytest.approx((3 + 3 * 0.82) / 6)
    assert got["moda"] == pytest.approx(1 - 2 / 7)
    assert got["motal"] == pytest.approx(1 - 2 / 7)  # log10 of one switch is 0
    assert got["smota"] == pytest.approx((3 + 3 * 0.82 - 1 - 1) / 7)
    assert got["recall"] == got["precision"] == got["f1"] == pytest.approx(6 / 7)
    assert got["fp_per_frame"] == 0.25
    assert (got["mt_ratio"], got["pt_ratio"], got["ml_ratio"]) == (0.5, 0.5, 0)


def test_identity_by_hand(mixed):
    got = values(IDENTITY, mixed)
    assert (got["idtp"], got["idfp"], got["idfn"]) == (5, 2, 2)  # a is p, b is r
    assert got["idf1"] == pytest.approx(10 / 14)
    assert got["idp"] == got["idr"] == pytest.approx(5 / 7)


def test_precision_and_recall_differ_where_their_causes_do():
    frames = sequence({"a": always(A, range(4))}, {"p": {0: A}, "x": {0: AWAY, 1: AWAY}}, 4)
    clear, identity, hota = (values(m, frames) for m in (CLEAR, IDENTITY, HOTA))
    assert (clear["precision"], clear["recall"]) == (1 / 3, 1 / 4)
    assert (identity["idp"], identity["idr"]) == (1 / 3, 1 / 4)
    assert (hota["detpr"], hota["detre"]) == pytest.approx((1 / 3, 1 / 4))
    assert (hota["asspr"], hota["assre"]) == pytest.approx((1, 1 / 4))


def test_many_switches_weigh_by_their_logarithm_in_motal():
    frames = sequence({"a": always(A, range(11))}, {f"p{n}": {n: A} for n in range(11)}, 11)
    got = values(CLEAR, frames)
    assert got["idsw"] == 10
    assert got["motal"] == pytest.approx(1 - 1 / 11)


def test_tracked_shares_fall_into_mostly_partly_and_lost():
    # Matched for 5/5, 4/5, 1/5 and 0/5: 80 % is not mostly, 20 % is partly.
    truth = {k: always((100 * k, 0, 100 * k + 10, 10), range(5)) for k in range(4)}
    shares = {0: 5, 1: 4, 2: 1, 3: 0}
    found = {k: always((100 * k, 0, 100 * k + 10, 10), range(n)) for k, n in shares.items()}
    got = values(CLEAR, sequence(truth, found, 5))
    assert (got["mt"], got["pt"], got["ml"]) == (1, 2, 1)


def test_a_partner_is_kept_while_it_overlaps_enough():
    # p leaves a slowly, q sits on it: from frame to frame p is kept, though q fits better.
    closer, further = (0, 0, 10, 9), (0, 0, 10, 6)
    frames = sequence({"a": always(A, range(2))}, {"p": {0: A, 1: further}, "q": {1: closer}}, 2)
    got = values(CLEAR, frames)
    assert (got["idsw"], got["tp"], got["fp"]) == (0, 2, 1)
    assert got["motp"] == pytest.approx((1 + 0.6) / 2)


def test_a_frame_without_predictions_does_not_part_partners():
    closer, further = (0, 0, 10, 9), (0, 0, 10, 6)
    frames = sequence({"a": always(A, range(3))}, {"p": {0: A, 2: further}, "q": {2: closer}}, 3)
    got = values(CLEAR, frames)
    assert (got["idsw"], got["frag"], got["fn"]) == (0, 0, 1)


def test_a_frame_in_which_the_track_is_missed_parts_partners():
    # Other boxes are predicted in frame 1, so a is lost there: afterwards the better box wins.
    closer, further = (0, 0, 10, 9), (0, 0, 10, 6)
    frames = sequence(
        {"a": always(A, range(3))},
        {"p": {0: A, 2: further}, "q": {2: closer}, "x": {1: AWAY}},
        3,
    )
    got = values(CLEAR, frames)
    assert (got["idsw"], got["frag"]) == (1, 1)


def test_hota_prefers_the_track_that_fits_as_a_whole():
    # In frame 1 q overlaps a a little more, but p follows a through all frames.
    frames = sequence(
        {"a": always(A, range(4))},
        {"p": always((0, 0, 10, 9), range(4)), "q": {1: A}},
        4,
    )
    got = values(HOTA, frames)
    assert got["assa"] == pytest.approx(1.0 * 18 / 19)  # nothing matches at 0.95
    assert got["asspr"] == pytest.approx(1.0 * 18 / 19)


def test_rw060_false_positives_after_the_last_truth_frame_cost():
    frames = sequence({1: always(A, range(2))}, {1: always(A, range(4))}, 4)
    clear = values(CLEAR, frames)
    assert (clear["mota"], clear["fp"], clear["fn"]) == (0.0, 2, 0)
    assert values(IDENTITY, frames)["idf1"] == pytest.approx(2 / 3)
    assert values(HOTA, frames)["hota_50"] == pytest.approx(0.5)


def test_rw061_without_truth_mota_is_undefined_and_false_positives_pool():
    frames = sequence({}, {1: always(A, range(3))}, 3)
    clear = values(CLEAR, frames)
    assert (clear["mota"], clear["recall"], clear["motp"], clear["fp"]) == (None, None, None, 3)
    identity = values(IDENTITY, frames)
    assert (identity["idf1"], identity["idr"], identity["idp"]) == (0.0, None, 0.0)
    hota = values(HOTA, frames)
    assert (hota["hota"], hota["deta"], hota["detpr"]) == (0.0, 0.0, 0.0)
    assert (hota["detre"], hota["assa"], hota["loca"]) == (None, None, None)
    other = sequence({1: always(A, range(3))}, {1: always(A, range(3))}, 3)
    pooled = CLEAR.result(fold([CLEAR.measure(frames), CLEAR.measure(other)]))
    assert (pooled["fp"], pooled["mota"]) == (3, 0.0)


def test_rw062_identity_f1_and_switches_see_a_change_of_identity():
    frames = sequence({1: always(A, range(4))}, {1: always(A, (0, 1)), 2: always(A, (2, 3))}, 4)
    clear, hota = values(CLEAR, frames), values(HOTA, frames)
    assert values(IDENTITY, frames)["idf1"] == 0.5
    assert (clear["mota"], clear["idsw"]) == (0.75, 1)
    assert hota["hota_50"] == pytest.approx(0.707106781)
    assert (hota["deta"], hota["assa"]) == pytest.approx((1.0, 0.5))


def test_rw062_the_published_numbers_do_not_see_it():
    frames = sequence({1: always(A, range(4))}, {1: always(A, (0, 1)), 2: always(A, (2, 3))}, 4)
    assert values(GREEDY, frames) == {
        "mota": 1.0, "detection_f1": 1.0, "fp": 0, "fn": 0, "idsw": 0
    }  # fmt: skip


RW065 = sequence(
    {"a": {0: (0, 0, 10, 10)}, "b": {0: (4, 0, 14, 10)}},
    {"p": {0: (2, 0, 12, 10)}, "q": {0: (0, 0, 10, 10)}},
    1,
)


def test_rw065_the_assignment_is_optimal():
    got = values(CLEAR, RW065)
    assert (got["tp"], got["fp"], got["fn"], got["mota"]) == (2, 0, 0, 1.0)


def test_rw065_the_published_assignment_is_greedy():
    got = values(GREEDY, RW065)
    assert (got["fp"], got["fn"], got["mota"], got["detection_f1"]) == (1, 1, 0.0, 0.5)


def test_greedy_switches_are_those_of_predicted_tracks():
    frames = sequence({"a": {0: A}, "b": {1: A}, "c": {2: AWAY}}, {"p": always(A, range(3))}, 3)
    got = values(GREEDY, frames)
    assert (got["idsw"], got["fp"], got["fn"]) == (1, 1, 1)
    assert got["mota"] == pytest.approx(1 - 3 / 3)


def test_greedy_mota_is_cut_off_and_undefined_without_truth():
    assert values(GREEDY, sequence({"a": {0: A}}, {k: {0: AWAY} for k in "pqr"}, 1))["mota"] == -1
    got = values(GREEDY, sequence({}, {"p": {0: A}}, 1))
    assert (got["mota"], got["detection_f1"]) == (None, 0.0)


def test_rw066_boxes_that_touch_a_little_do_not_match():
    frames = sequence({1: {0: (0, 0, 10, 10)}}, {1: {0: (0, 9, 10, 19)}}, 1)
    got = values(CLEAR, frames)
    assert (got["tp"], got["fp"], got["fn"], got["mota"]) == (0, 1, 1, -1.0)
    assert values(IDENTITY, frames)["idf1"] == 0
    lax = values(Clear(MatchingOptions(min_iou=0.05)), frames)
    assert (lax["tp"], lax["motp"]) == (1, pytest.approx(10 / 190))


def test_an_overlap_of_exactly_the_threshold_matches():
    frames = sequence({1: {0: (0, 0, 10, 10)}}, {1: {0: (0, 0, 10, 5)}}, 1)
    assert values(CLEAR, frames)["tp"] == 1
    assert values(IDENTITY, frames)["idtp"] == 1
    assert values(HOTA, frames)["hota_50"] == 1.0


def test_rw067_a_track_that_is_one_frame_late_matches_nowhere():
    moving = {t: (5 * t, 0, 5 * t + 10, 10) for t in range(1, 5)}
    late = {t + 1: box for t, box in moving.items()}
    got = values(CLEAR, sequence({1: moving}, {1: late}, 6))
    assert (got["mota"], got["fp"], got["fn"]) == (-1.0, 4, 4)


def test_rw068_a_sequence_without_a_match_is_seen():
    good = sequence({1: always(A, range(10))}, {1: always(A, range(10))}, 10)
    lost = sequence({1: always(A, range(10))}, {}, 10)
    states = [HOTA.measure(good), HOTA.measure(lost)]
    alone = HOTA.result(states[1])
    assert (alone["hota"], alone["deta"], alone["loca"], alone["assa"]) == (0.0, 0.0, None, None)
    pooled = HOTA.result(fold(states))
    assert (pooled["deta"], pooled["assa"]) == pytest.approx((0.5, 1.0))
    assert pooled["hota"] == pytest.approx(0.707106781)
    assert pooled["sequences_without_match"] == 1
    assert (HOTA.result(states[0])["hota"] + alone["hota"]) / 2 == 0.5


def test_nothing_at_all_is_undefined():
    frames = sequence({}, {}, 3)
    hota, clear, identity = (values(m, frames) for m in (HOTA, CLEAR, IDENTITY))
    assert {hota[name] for name in HOTA.outputs if name != "sequences_without_match"} == {None}
    assert hota["sequences_without_match"] == 0
    assert {clear[name] for name in ("mota", "motp", "recall", "precision", "f1")} == {None}
    assert (clear["fp"], clear["fp_per_frame"]) == (0, 0.0)
    assert {identity[name] for name in ("idf1", "idp", "idr")} == {None}


def test_ids_are_names_only():
    plain = sequence({"1": always(A, range(3))}, {"2": always(A, range(3))}, 3)
    odd = sequence({"": always(A, range(3))}, {"-1": always(A, range(3))}, 3)
    for metric in (HOTA, CLEAR, IDENTITY):
        assert values(metric, plain) == values(metric, odd)


@pytest.mark.parametrize("metric", [HOTA, CLEAR, IDENTITY, GREEDY], ids=lambda m: type(m).__name__)
def test_results_are_the_declared_outputs(metric, mixed):
    assert set(values(metric, mixed)) == set(metric.outputs)
    for name, output in metric.outputs.items():
        assert output.headline in output.aggregates, name
