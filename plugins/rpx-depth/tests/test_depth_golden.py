"""The kernels against euler-eval 2.30.0; where the numbers come from is in data/ORIGIN.md."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from rpx_core.errors import ConfigError
from rpx_depth import alignment
from rpx_depth.histogram import ErrorBins, count_errors, quantile
from rpx_depth.pixel_errors import DepthSums, measure_errors, pixel_errors, standard_set
from rpx_depth.range_bins import bin_masks, square_root_bins
from rpx_depth.regions import Region, valid_truth
from rpx_depth.types import DepthPair

DATA = Path(__file__).parent / "data"
CASES = {case["id"]: case for case in json.loads((DATA / "depth_golden.json").read_text())["cases"]}
with np.load(DATA / "depth_golden.npz", allow_pickle=False) as _arrays:
    INPUTS = dict(_arrays)

_PROJECTION = "projects a point cloud first; these kernels start from a depth map"
LEFT_OUT = {
    "depth_silog/f64x1.25": "defect: an unclamped radicand gives NaN; ours is tested below",
    "align/affine_skyoutlier_p95.0": "defect: trimming at 95 % keeps 12.5 % of outliers",
    "align/affine_bad_percentile": "no percentile option: a fit sees the protocol's mask, no less",
    "validation/dense_resize": "averages the truth into another size; the truth is never resampled",
    "validation/dense_2x3_below_min": "a minimum of pixels is an option of DepthBins, tested there",
    "validation/sparse_none": _PROJECTION,
    "validation/sparse_radial_pred": _PROJECTION,
    "validation/sparse_affine": "defect: fits a planar prediction to radial truth",
    "validation/sparse_bounds": _PROJECTION,
}
STANDARD = [id for id in CASES if id.startswith("depth_standard/")]
RELATIVE = [id for id in CASES if id.startswith("depth_absrel/")]
ABSOLUTE = [id for id in CASES if id.startswith("depth_rmse/")]
LOG = [id for id in CASES if id.startswith("depth_silog/") and id not in LEFT_OUT]
BINS = [id for id in CASES if id.startswith("bench_bins/")]
FITS = [id for id in CASES if id.startswith("align/") and id not in LEFT_OUT]
DENSE = [
    "validation/dense_none",
    "validation/dense_affine",
    "validation/dense_bounds",
    "validation/dense_holes",
    "validation/dense_allinvalid",
    "validation/dense_2x3_min1",
    "validation/dense_benchmark",
]
SINGLE = ["validation/reduced_state", "validation/bad_alignment"]

SUM_NAMES = {
    "count": "pixels",
    "sum_absrel": "absrel",
    "sum_sqrel": "sqrel",
    "sum_abs": "absolute",
    "sum_sq": "squared",
    "sum_log_diff": "log_signed",
    "delta1_hits": "delta1",
    "delta2_hits": "delta2",
    "delta3_hits": "delta3",
}


def test_every_reference_case_is_tested_or_left_out_for_a_reason():
    tested = [*STANDARD, *RELATIVE, *ABSOLUTE, *LOG, *BINS, *FITS, *DENSE, *SINGLE]
    assert sorted([*tested, *LEFT_OUT]) == sorted(CASES)


def array(name: str) -> np.ndarray:
    return -INPUTS[name[1:]] if name.startswith("-") else INPUTS[name]


def inputs(case: dict) -> tuple[np.ndarray, np.ndarray]:
    return array(case["inputs"]["pred"]), array(case["inputs"]["gt"])


def cut(truth: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The truth inside a mask, as a task leaves it."""
    return np.where(mask, truth, 0)


def approx(case: dict, value: object) -> object:
    """The reference value with its own tolerance; its NaN is our None."""
    if value == "nan":
        return None
    return pytest.approx(value, rel=case["rtol"], abs=case["atol"])


def check_set(case: dict, values: dict, expected: dict) -> None:
    for name, value in expected.items():
        assert values[name] == approx(case, value), name


def check_sums(case: dict, sums: DepthSums, expected: dict) -> None:
    for reference, ours in SUM_NAMES.items():
        assert getattr(sums, ours) == approx(case, expected[reference]), ours
    assert sums.log_absolute / math.log(10) == approx(case, expected["sum_log10_abs"])
    assert sums.log_within + sums.log_between == approx(case, expected["sum_log_diff_sq"])


def sums_from(pool: dict) -> DepthSums:
    between = pool["sum_log_diff"] ** 2 / pool["count"]
    return DepthSums(
        truth_pixels=pool["count"],
        log_absolute=pool["sum_log10_abs"] * math.log(10),
        log_within=pool["sum_log_diff_sq"] - between,
        log_between=between,
        **{ours: pool[reference] for reference, ours in SUM_NAMES.items()},
    )


@pytest.mark.parametrize("id", STANDARD)
def test_standard_set_and_its_sums(id):
    case = CASES[id]
    if id.endswith("three_reducers_empty"):
        check_set(case, standard_set(DepthSums()), case["expected"]["pixel_pool"])
        return
    prediction, truth = inputs(case)
    mask = INPUTS.get(case["inputs"].get("valid_mask"))
    sums = measure_errors(prediction, truth if mask is None else cut(truth, mask))
    check_set(case, standard_set(sums), case["expected"].get("metrics", case["expected"]))
    if "pool_stats" in case["expected"]:
        check_sums(case, sums, case["expected"]["pool_stats"])


def check_statistics(case: dict, values: np.ndarray, expected: dict) -> None:
    statistics = {
        "size": lambda: values.size,
        "sum": values.sum,
        "min": values.min,
        "max": values.max,
        "mean": values.mean,
        "median": lambda: np.median(values),
        "p90": lambda: np.quantile(values, 0.9),
    }
    for name, value in expected.items():
        if value == "nan":
            assert values.size == 0
        elif name in statistics:
            assert statistics[name]() == approx(case, value), name


def check_histogram(values: np.ndarray, expected: dict) -> None:
    """What a run reports is within the histogram's stated error of the exact quantile."""
    bins = ErrorBins()
    counts = count_errors(values, bins)
    for name, q in (("median", 0.5), ("p90", 0.9)):
        got = quantile(counts, q, bins)
        if expected[name] == "nan":
            assert got is None
        else:
            exact = expected[name]
            assert got == pytest.approx(exact, rel=bins.relative_error + 1e-6, abs=bins.low)


@pytest.mark.parametrize("id", RELATIVE)
def test_relative_errors_of_pixels(id):
    case = CASES[id]
    errors = pixel_errors(*inputs(case)).relative
    check_statistics(case, errors, case["expected"]["array"])
    check_statistics(case, errors, case["expected"]["stats"])
    check_histogram(errors, case["expected"]["stats"])


@pytest.mark.parametrize("id", ABSOLUTE)
def test_absolute_errors_of_pixels(id):
    case = CASES[id]
    errors = pixel_errors(*inputs(case)).absolute
    check_statistics(case, errors, case["expected"]["stats"])
    check_statistics(case, errors**2, case["expected"]["sqerr"])
    check_histogram(errors, case["expected"]["stats"])
    assert standard_set(measure_errors(*inputs(case)))["rmse"] == approx(
        case, case["expected"]["value"]
    )


@pytest.mark.parametrize("id", LOG)
def test_log_errors_of_pixels(id):
    case = CASES[id]
    sums = measure_errors(*inputs(case))
    assert standard_set(sums)["silog"] == approx(case, case["expected"]["value"])
    half = (sums.log_within + sums.log_between - sums.log_signed**2 / sums.pixels / 2) / sums.pixels
    assert math.sqrt(half) == approx(case, case["expected"]["value_lambda_0.5"])
    errors = np.abs(pixel_errors(*inputs(case)).log)
    stats = {name: case["expected"]["stats"][name] for name in ("median", "p90")}
    check_statistics(case, errors, stats)
    check_histogram(errors, stats)


def test_silog_of_an_exact_scale_error_is_zero_where_the_reference_is_nan():
    values = standard_set(measure_errors(*inputs(CASES["depth_silog/f64x1.25"])))
    assert values["silog"] == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("id", BINS)
def test_square_root_bins(id):
    case = CASES[id]
    bins = square_root_bins(*case["params"]["range"])
    for name, bounds in bins.bounds().items():
        assert bounds == pytest.approx(case["expected"]["boundaries"][name], rel=case["rtol"])
    masks = bin_masks(array(case["inputs"]["depth"]), bins)
    counts = {name: int(mask.sum()) for name, mask in masks.items()}
    assert counts == case["expected"]["counts"]


@pytest.mark.parametrize("id", FITS)
def test_affine_fit(id):
    case = CASES[id]
    prediction, truth = inputs(case)
    percentile = case["params"].get("max_gt_percentile")
    kept = truth if percentile is None else cut(truth, truth <= np.percentile(truth, percentile))
    fitted = alignment.fit("affine", [DepthPair(prediction, kept)])
    assert fitted is not None
    assert fitted.scale == approx(case, case["expected"]["s"])
    assert fitted.shift == approx(case, case["expected"]["t"])
    aligned = alignment.apply(fitted, prediction).depth.reshape(-1)
    check_statistics(case, aligned, case["expected"].get("aligned", {}))


def check_dense(case: dict, sums: DepthSums, expected: dict | None) -> None:
    if expected is None:
        assert set(standard_set(sums).values()) == {None}
        return
    check_set(case, standard_set(sums), expected["metrics"])
    check_sums(case, sums, expected["pool_stats"])
    assert sums.pixels == expected["valid_pixels"]


@pytest.mark.parametrize("id", DENSE)
def test_dense_validation(id):
    case = CASES[id]
    prediction, truth = inputs(case)
    params, expected = case["params"], case["expected"]
    region = Region("none", params.get("min_depth"), params.get("max_depth"))
    kept = cut(truth, valid_truth(truth, region))
    if "alignment" in params:
        fitted = alignment.fit(params["alignment"], [DepthPair(prediction, kept)])
        assert fitted is not None
        assert (fitted.scale, fitted.shift) == approx(case, (expected["scale"], expected["shift"]))
        prediction = alignment.apply(fitted, prediction).depth
    check_dense(case, measure_errors(prediction, kept), expected)
    if "benchmark_depth_range" in params:
        masks = bin_masks(truth, square_root_bins(*params["benchmark_depth_range"]))
        for name, values in expected["benchmark"]["bins"].items():
            check_dense(case, measure_errors(prediction, cut(truth, masks[name])), values)


def test_reduced_state_pools_and_averages_images():
    case = CASES["validation/reduced_state"]
    pairs = [pair for pair in case["inputs"]["rank0"] if pair is not None]
    images = [measure_errors(array(pred), array(truth)) for pred, truth in pairs]
    state = case["expected"]["rank0_state"]
    pool = {name[len("pool_") :]: value for name, value in state.items() if "pool_" in name}
    check_sums(case, images[0] + images[1], pool)
    images.append(sums_from(CASES["validation/sparse_none"]["expected"]["pool_stats"]))
    for count, summary in ((2, "rank0_summary"), (3, "summed_summary")):
        expected = case["expected"][summary]["standard"]
        check_set(case, standard_set(sum(images[:count], DepthSums())), expected["pixel_pool"])
        sets = [standard_set(image) for image in images[:count]]
        means = {
            name: np.mean([values[name] for values in sets]) for name in expected["pixel_pool"]
        }
        check_set(case, means, expected["image_mean"])


def test_an_unknown_alignment_is_named():
    with pytest.raises(ConfigError, match="auto_affine"):
        alignment.fit(CASES["validation/bad_alignment"]["params"]["alignment"], [])
