"""The sample metrics: worked examples, reference values, and what is undefined."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from rpx_core.contracts import Sample, Undefined
from rpx_core.errors import ConfigError
from rpx_core.state import decode_state, encode_state, fold
from rpx_core.testing import defined, values_of
from rpx_depth.metrics.bins import DepthBins, DepthBinsOptions
from rpx_depth.metrics.errors import DepthErrors
from rpx_depth.metrics.quantiles import DepthQuantiles
from rpx_depth.pixel_errors import DepthSums
from rpx_depth.types import DepthGroundTruth, DepthPrediction

DATA = Path(__file__).parent / "data"
CASES = {case["id"]: case for case in json.loads((DATA / "depth_golden.json").read_text())["cases"]}
with np.load(DATA / "depth_golden.npz", allow_pickle=False) as _arrays:
    INPUTS = dict(_arrays)

SAMPLE = Sample("s")
ERRORS = DepthErrors()


def measure(metric, truth, prediction):
    truth = DepthGroundTruth(np.atleast_2d(np.asarray(truth, np.float32)))
    return metric.measure(SAMPLE, truth, DepthPrediction(np.atleast_2d(np.asarray(prediction))))


def values(metric, truth, prediction) -> dict:
    return dict(values_of(metric, measure(metric, truth, prediction)))


def image_mean(metric, states, name) -> tuple[float | None, int]:
    """What the aggregate `sample` is: the mean over defined images, and how many they are."""
    found = [values_of(metric, state)[name] for state in defined(states)]
    found = [value for value in found if value is not None]
    return (math.fsum(found) / len(found) if found else None), len(found)


def ranges(**options) -> DepthBins:
    return DepthBins(DepthBinsOptions(**options))


def test_worked_example():
    got = values(ERRORS, [[1, 2], [0, 4]], [[1.1, 1.5], [9, 5]])
    assert got["absrel"] == pytest.approx(0.2)
    assert got["rmse"] == pytest.approx(0.6481, abs=5e-5)
    assert got["silog100"] == pytest.approx(21.704, abs=5e-4)
    assert got["irmse"] == pytest.approx(0.1133, abs=5e-5)
    assert (got["delta1"], got["delta2"], got["coverage"]) == (pytest.approx(1 / 3), 1, 1)
    mean_log = (math.log(1.1) + math.log(0.75) + math.log(1.25)) / 3
    assert got["scale_ratio"] == pytest.approx(math.exp(mean_log))


@pytest.mark.parametrize("metric", [ERRORS, ranges(), DepthQuantiles()])
def test_result_has_exactly_the_declared_outputs(metric):
    truth = np.linspace(0.3, 5, 600).reshape(20, 30)
    assert set(values(metric, truth, truth)) == set(metric.outputs)
    assert all(output.summary for output in metric.outputs.values())


@pytest.mark.parametrize("metric", [ERRORS, ranges(), DepthQuantiles()])
def test_truth_is_a_perfect_prediction(metric):
    truth = np.linspace(0.3, 5, 1800).reshape(60, 30).astype(np.float32)
    truth[::3] = 0
    got = values(metric, truth, truth)
    assert {name: got[name] for name, out in metric.outputs.items() if out.best is not None} == {
        name: out.best for name, out in metric.outputs.items() if out.best is not None
    }


# RW-035
def test_frame_without_truth_is_undefined_and_lifts_no_mean():
    states = [measure(ERRORS, [2, 2], [2, 4.0]), measure(ERRORS, [0, 0], [1, 1.0])]
    assert states[1] == Undefined("no pixel has a true depth")
    for name in ("delta1", "absrel"):
        assert image_mean(ERRORS, states, name) == (0.5, 1)


@pytest.mark.parametrize("metric", [ERRORS, ranges(), DepthQuantiles()])
def test_image_without_truth_is_undefined_for_every_metric(metric):
    assert isinstance(measure(metric, np.zeros((3, 4)), np.ones((3, 4))), Undefined)


def test_truth_outside_all_ranges_is_undefined():
    beyond = measure(ranges(), np.full((20, 20), 7), np.full((20, 20), 7.0))
    assert beyond == Undefined("no true depth lies in any range")


# RW-038
def test_proportional_prediction_has_no_scale_invariant_error():
    truth = np.linspace(1, 4, 6, dtype=np.float32)
    assert values(ERRORS, truth, truth * np.float32(1.5))["silog"] == pytest.approx(0, abs=1e-7)


# RW-039
def test_silog_is_the_root_and_silog100_its_percentage():
    got = values(ERRORS, [1, 1], [1, 2.0])
    assert got["silog"] == pytest.approx(0.34657359, abs=1e-6)
    assert got["silog100"] == pytest.approx(34.657359, abs=1e-4)


# RW-040
def test_abstaining_costs_coverage_and_hits():
    got = values(ERRORS, [1, 1, 1, 1], [1, 1, np.nan, np.nan])
    assert (got["coverage"], got["delta1_of_truth"], got["absrel"]) == (0.5, 0.5, 0)


@pytest.mark.parametrize("nothing", [np.nan, np.inf, -np.inf, 0.0, -1.0])
def test_only_coverage_is_defined_without_answers(nothing):
    got = values(ERRORS, [1, 2, 3], [nothing] * 3)
    told = {name: value for name, value in got.items() if value is not None}
    assert told == {"coverage": 0, "delta1_of_truth": 0}
    unanswered = Undefined("no pixel with a true depth is answered")
    assert measure(DepthQuantiles(), [1, 2, 3], [nothing] * 3) == unanswered


# RW-044
def test_mean_of_images_and_pooled_pixels_are_both_there_and_differ():
    perfect = np.full(99, 2)
    states = [measure(ERRORS, [2], [3.0]), measure(ERRORS, perfect, perfect)]
    assert image_mean(ERRORS, states, "absrel") == (0.25, 2)
    assert image_mean(ERRORS, states, "rmse") == (0.5, 2)
    pooled = values_of(ERRORS, fold(states))
    assert pooled["absrel"] == pytest.approx(0.005)
    assert pooled["rmse"] == pytest.approx(0.1)
    assert ERRORS.outputs["absrel"].headline == "sample"


# RW-047
@pytest.mark.parametrize(
    ("factor", "plausible"),
    [(1, True), (1000 / 256, True), (1000, False), (1 / 1000, False), (9, True), (11, False)],
)
def test_wrong_unit_lies_outside_the_plausible_scale_ratio(factor, plausible):
    truth = np.linspace(0.5, 3, 50)
    ratio = values(ERRORS, truth, truth * factor)["scale_ratio"]
    assert ratio == pytest.approx(factor, rel=1e-6)
    low, high = ERRORS.outputs["scale_ratio"].plausible
    assert (low <= ratio <= high) is plausible


def test_reduced_state_of_the_reference_is_our_fold():
    case = CASES["validation/reduced_state"]
    pairs = [pair for pair in case["inputs"]["rank0"] if pair is not None]
    states = [measure(ERRORS, INPUTS[truth], INPUTS[pred]) for pred, truth in pairs]
    states.append(measure(ERRORS, np.zeros((2, 2)), np.ones((2, 2))))
    stored = [decode_state(DepthSums, encode_state(state)) for state in defined(states)]
    expected = case["expected"]["rank0_summary"]["standard"]
    pooled = values_of(ERRORS, fold(stored))
    for name, value in expected["pixel_pool"].items():
        assert pooled[name] == pytest.approx(value, rel=case["rtol"]), name
    for name, value in expected["image_mean"].items():
        assert image_mean(ERRORS, stored, name)[0] == pytest.approx(value, rel=case["rtol"]), name


def test_ranges_agree_with_the_reference():
    case = CASES["validation/dense_benchmark"]
    pred, truth = INPUTS[case["inputs"]["pred"]], INPUTS[case["inputs"]["gt"]]
    edges = case["params"]["benchmark_depth_range"]
    got = values(ranges(kind="sqrt", edges=edges, min_pixels=1), truth, pred)
    for name in ("near", "mid", "far"):
        expected = case["expected"]["benchmark"]["bins"][name]
        for metric in ("absrel", "mae", "rmse", "silog", "delta1"):
            want = pytest.approx(expected["metrics"][metric], rel=1e-5) if expected else None
            assert got[f"{metric}_{name}"] == want
        assert got[f"truth_pixels_{name}"] == (expected["valid_pixels"] if expected else 0)


def test_range_with_too_few_pixels_is_undefined_with_its_count():
    case = CASES["validation/dense_2x3_below_min"]
    pred, truth = INPUTS[case["inputs"]["pred"]], INPUTS[case["inputs"]["gt"]]
    options = {"edges": (0.0, 100.0), "names": ("whole",)}
    few = values(ranges(**options, min_pixels=10), truth, pred)
    assert few.pop("truth_pixels_whole") == 6
    assert set(few.values()) == {None}
    enough = CASES["validation/dense_2x3_min1"]["expected"]["metrics"]
    got = values(ranges(**options, min_pixels=1), truth, pred)
    assert got["absrel_whole"] == pytest.approx(enough["absrel"], rel=1e-6)


def test_few_pixels_per_image_are_enough_when_pooled():
    metric = ranges(min_pixels=10)
    state = measure(metric, np.full(6, 0.5), np.full(6, 0.55))
    assert values_of(metric, state)["absrel_near"] is None
    pooled = values_of(metric, fold([state, state]))
    assert pooled["absrel_near"] == pytest.approx(0.1)
    assert (pooled["truth_pixels_near"], pooled["truth_pixels_mid"]) == (12, 0)
    assert pooled["coverage_mid"] is None


def test_unanswered_range_has_coverage_only():
    got = values(ranges(min_pixels=1), [0.5, 2, 4], [np.nan, 2, 4.4])
    assert (got["coverage_near"], got["absrel_near"], got["delta1_near"]) == (0, None, None)
    assert (got["coverage_far"], got["absrel_far"]) == (1, pytest.approx(0.1))


def test_ranges_hold_their_near_edge_and_the_last_its_far_one():
    got = values(ranges(min_pixels=1), [0.3, 1.0, 2.5, 5.0], [0.3, 1.0, 2.5, 5.0])
    assert [got[f"truth_pixels_{name}"] for name in ("near", "mid", "far")] == [1, 1, 2]


@pytest.mark.parametrize(
    "options",
    [
        {"edges": (1.0, 2.0)},
        {"edges": (3.0, 2.0, 1.0, 0.5)},
        {"kind": "sqrt"},
        {"kind": "sqrt", "edges": (5.0, 1.0)},
        {"kind": "sqrt", "edges": (0.0, 8.0), "names": ("a", "b", "c")},
        {"edges": (0.0, 1.0, 2.0), "names": ("a", "a")},
    ],
)
def test_impossible_ranges_are_refused(options):
    with pytest.raises(ConfigError):
        ranges(**options)


def test_pooled_quantiles_are_those_of_all_pixels():
    rng = np.random.default_rng(5)
    truth = rng.uniform(0.5, 5, (3, 400))
    prediction = truth * np.exp(rng.normal(0, 0.2, truth.shape))
    metric = DepthQuantiles()
    states = [measure(metric, *pair) for pair in zip(truth, prediction, strict=True)]
    got = values_of(metric, fold(states))
    true = truth.astype(np.float32).astype(np.float64)
    for name, errors in {
        "relative": np.abs(prediction - true) / true,
        "absolute": np.abs(prediction - true),
        "log": np.abs(np.log(prediction / true)),
    }.items():
        for kind, q in (("median", 0.5), ("p90", 0.9)):
            exact = np.quantile(errors, q)
            assert got[f"{name}_{kind}"] == pytest.approx(exact, rel=1 / 128, abs=2**-13)


def test_states_do_not_grow_with_the_image():
    small, large = np.full((4, 4), 2.0), np.full((400, 400), 2.0)
    for metric in (ERRORS, ranges(), DepthQuantiles()):
        sizes = {len(encode_state(measure(metric, image, image))) for image in (small, large)}
        assert len(sizes) == 1
