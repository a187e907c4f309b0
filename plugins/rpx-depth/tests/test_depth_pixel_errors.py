import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.errors import ConfigError, MetricError
from rpx_depth.histogram import ErrorBins, count_errors, quantile
from rpx_depth.pixel_errors import BLOCK, DepthSums, measure_errors, pixel_errors, standard_set

F32 = np.float32
depths = arrays(F32, (3, 17), elements=st.floats(0.25, 80, width=32))
holes = arrays(np.bool_, (3, 17))


def measure(prediction, truth) -> dict[str, float | None]:
    return standard_set(measure_errors(np.asarray(prediction), np.asarray(truth)))


def test_worked_example():
    truth = np.array([[1, 2], [0, 4]], F32)
    values = measure(np.array([[1.1, 1.5], [9, 5]], F32), truth)
    assert values["absrel"] == pytest.approx(0.2, abs=1e-7)
    assert values["mae"] == pytest.approx(1.6 / 3, abs=1e-7)
    assert values["sqrel"] == pytest.approx((0.01 + 0.125 + 0.25) / 3, abs=1e-7)
    assert values["rmse"] == pytest.approx(0.6481, abs=5e-5)
    assert values["silog100"] == pytest.approx(21.704, abs=5e-4)
    assert values["irmse"] == pytest.approx(0.1133, abs=5e-5)
    assert values["delta1"] == pytest.approx(1 / 3)
    assert (values["delta2"], values["delta3"], values["coverage"]) == (1, 1, 1)


def test_ratio_equal_to_a_threshold_is_no_hit_from_either_side():
    truth = np.array([4.0, 5.0, 16.0, 25.0, 64.0, 125.0])
    prediction = np.array([5.0, 4.0, 25.0, 16.0, 125.0, 64.0])
    sums = measure_errors(prediction, truth)
    assert (sums.delta1, sums.delta2, sums.delta3) == (0, 2, 4)


@given(depths, depths, st.sampled_from([1.25, 1.25**2, 1.25**3]))
def test_hits_are_those_of_the_quotients(truth, prediction, limit):
    p, g = prediction.astype(np.float64), truth.astype(np.float64)
    p[0] = g[0] * limit
    sums = measure_errors(p, g)
    ratio = np.maximum(p / g, g / p)
    counts = tuple(int((ratio < bound).sum()) for bound in (1.25, 1.25**2, 1.25**3))
    assert (sums.delta1, sums.delta2, sums.delta3) == counts


def test_many_blocks_agree_with_the_formulas():
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.3, 9, (2 * BLOCK + 5,))
    prediction = truth * np.exp(rng.normal(0.3, 0.2, truth.size))
    truth[::5] = 0
    prediction[3::7] = np.nan
    use = (truth > 0) & np.isfinite(prediction)
    p, g = prediction[use], truth[use]
    d = np.log(p / g)
    expected = {
        "absrel": np.mean(np.abs(p - g) / g),
        "sqrel": np.mean((p - g) ** 2 / g),
        "mae": np.mean(np.abs(p - g)),
        "rmse": np.sqrt(np.mean((p - g) ** 2)),
        "rmse_log": np.sqrt(np.mean(d**2)),
        "log10": np.mean(np.abs(np.log10(p / g))),
        "silog": np.std(d),
        "silog100": 100 * np.std(d),
        "irmse": np.sqrt(np.mean((1 / p - 1 / g) ** 2)),
        "delta1": np.mean(np.maximum(p / g, g / p) < 1.25),
        "coverage": p.size / np.count_nonzero(truth),
    }
    values = measure(prediction, truth)
    assert {name: values[name] for name in expected} == pytest.approx(expected, rel=1e-12)


@given(depths, depths, holes, holes)
def test_two_halves_pool_to_the_whole(truth, prediction, no_truth, no_answer):
    truth[no_truth] = 0
    prediction[no_answer] = np.nan
    left = measure_errors(prediction[:, :5], truth[:, :5])
    right = measure_errors(prediction[:, 5:], truth[:, 5:])
    merged, whole = standard_set(left + right), measure(prediction, truth)
    undefined = [name for name, value in whole.items() if value is None]
    assert [name for name, value in merged.items() if value is None] == undefined
    # A variance rounds relative to the mean square of the logs, so its root gets a tolerance too.
    roots = {name: merged.pop(name) for name in ("silog", "silog100")}
    for name, value in roots.items():
        if value is not None:
            assert value**2 == pytest.approx(whole[name] ** 2, rel=1e-12, abs=1e-9)
    for name, value in merged.items():
        if value is not None:
            assert value == pytest.approx(whole[name], rel=1e-12), name


@given(depths)
def test_truth_is_a_perfect_prediction(truth):
    values = measure(truth, truth)
    best = {"delta1", "delta2", "delta3", "coverage", "delta1_of_truth"}
    assert values == {name: float(name in best) for name in values}


@given(depths, depths, st.floats(1, 3))
def test_larger_errors_never_improve_a_metric(truth, prediction, factor):
    truth = truth.astype(np.float64)
    ratio = np.maximum(prediction / truth, 1)
    base, worse = measure(truth * ratio, truth), measure(truth * ratio**factor, truth)
    for name in ("absrel", "sqrel", "mae", "rmse", "rmse_log", "log10", "irmse"):
        assert worse[name] >= base[name] * (1 - 1e-12), name
    for name in ("delta1", "delta2", "delta3"):
        assert worse[name] <= base[name], name


def test_frame_without_truth_is_undefined():
    first = measure([[2.0, 4.0]], [[2.0, 2.0]])
    second = measure([[1.0, 1.0]], [[0.0, 0.0]])
    assert (first["absrel"], first["delta1"]) == (0.5, 0.5)
    assert set(second.values()) == {None}


def test_values_do_not_depend_on_where_the_sums_were_kept():
    sums = measure_errors(np.array([1.5, 2.0]), np.array([1.0, 3.0]))
    stored = DepthSums(**{name: np.asarray(value) for name, value in vars(sums).items()})
    assert standard_set(stored) == standard_set(sums)


def test_frame_without_answers_has_coverage_and_nothing_else():
    values = measure([np.nan, 0.0], [1.0, 2.0])
    defined = {name: value for name, value in values.items() if value is not None}
    assert defined == {"coverage": 0.0, "delta1_of_truth": 0.0}


def test_abstaining_costs_coverage():
    values = measure([1.0, 1.0, np.nan, np.nan], [1.0, 1.0, 1.0, 1.0])
    assert (values["absrel"], values["coverage"], values["delta1_of_truth"]) == (0.0, 0.5, 0.5)


@pytest.mark.parametrize("answer", [np.nan, np.inf, -np.inf, 0.0, -1.0])
def test_no_answer_is_left_out_of_errors(answer):
    sums = measure_errors(np.array([answer, 2.0]), np.array([1.0, 1.0]))
    assert (sums.truth_pixels, sums.pixels, sums.absrel) == (2, 1, 1.0)


@pytest.mark.parametrize("hole", [np.nan, np.inf, 0.0, -1.0])
def test_no_truth_is_left_out_of_everything(hole):
    assert measure_errors(np.array([1.0, 2.0]), np.array([hole, 2.0])).truth_pixels == 1


def test_proportional_prediction_has_no_scale_invariant_error():
    truth = np.linspace(1, 4, 6, dtype=F32)
    assert measure(truth * F32(1.5), truth)["silog"] == pytest.approx(0, abs=1e-7)


def test_pooled_images_of_one_scale_error_have_none():
    truth = np.random.default_rng(1).uniform(1, 9, (40, 50))
    image = measure_errors(truth * 1.5, truth)
    pooled = sum([image] * 1000, DepthSums())
    assert standard_set(image)["silog"] == pytest.approx(0, abs=1e-15)
    assert standard_set(pooled)["silog"] == pytest.approx(0, abs=1e-6)


def test_silog_is_the_root_of_the_variance():
    values = measure([1.0, 2.0], [1.0, 1.0])
    assert values["silog"] == pytest.approx(0.34657359)
    assert values["silog"] ** 2 == pytest.approx(0.120113254)
    assert values["silog100"] == pytest.approx(34.657359)


def test_image_mean_and_pooled_pixels_differ():
    sparse = measure_errors(np.array([3.0]), np.array([2.0]))
    dense = measure_errors(np.full(99, 2.0), np.full(99, 2.0))
    sets = [standard_set(sparse), standard_set(dense)]
    pooled = standard_set(sparse + dense)
    assert (pooled["absrel"], pooled["rmse"]) == (pytest.approx(0.005), pytest.approx(0.1))
    assert np.mean([values["absrel"] for values in sets]) == 0.25
    assert np.mean([values["rmse"] for values in sets]) == 0.5


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int16, np.uint8, np.int64, ">f4"]
)
def test_any_real_dtype_is_computed_in_float64(dtype):
    sums = measure_errors(np.full(70000, 2, dtype), np.ones(70000, dtype))
    assert (sums.absolute, sums.squared, sums.pixels) == (70000.0, 70000.0, 70000)


def test_counts_stay_exact_beyond_float32():
    many = DepthSums(truth_pixels=90_170_813, pixels=16_777_216)
    total = many + measure_errors(np.ones(1), np.ones(1))
    assert (total.pixels, total.truth_pixels) == (16_777_217, 90_170_814)


def test_inputs_of_any_layout_are_left_alone():
    rng = np.random.default_rng(2)
    base = rng.uniform(1, 5, (40, 30, 2))
    prediction, truth = base[::-1, ::3, 0], base[..., 1].T[::3].T
    copies = prediction.copy(), truth.copy()
    assert measure_errors(prediction, truth) == measure_errors(*copies)
    np.testing.assert_array_equal(prediction, copies[0])
    np.testing.assert_array_equal(truth, copies[1])


def test_pixel_errors_list_the_answered_pixels_in_order():
    errors = pixel_errors(np.array([2.0, np.nan, 1.0]), np.array([1.0, 1.0, 2.0]))
    np.testing.assert_allclose(errors.relative, [1.0, 0.5])
    np.testing.assert_allclose(errors.absolute, [1.0, 1.0])
    np.testing.assert_allclose(errors.log, [math.log(2), -math.log(2)])


@pytest.mark.parametrize("kernel", [measure_errors, pixel_errors])
@pytest.mark.parametrize(
    ("prediction", "truth", "message"),
    [
        (np.ones((2, 3)), np.ones((3, 2)), r"prediction is \(2, 3\), truth is \(3, 2\)"),
        (np.ones(3, np.complex64), np.ones(3), "prediction has dtype complex64"),
        (np.ones(3), np.ones(3, np.bool_), "truth has dtype bool"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(kernel, prediction, truth, message):
    with pytest.raises(MetricError, match=message):
        kernel(prediction, truth)


@pytest.mark.parametrize("answer", [1e200, 1e-320])
def test_overflow_is_an_error_not_a_number(answer):
    with pytest.raises(MetricError, match="overflow"):
        measure_errors(np.array([answer]), np.array([1.0]))


def test_empty_image_is_undefined():
    assert measure_errors(np.empty((0, 4)), np.empty((0, 4))) == DepthSums()


errors_of_pixels = arrays(
    np.float64, st.integers(1, 60), elements=st.floats(0, 31, allow_subnormal=False)
)


@given(errors_of_pixels, st.floats(0, 1))
def test_quantile_is_within_its_stated_error(errors, q):
    bins = ErrorBins()
    got = quantile(count_errors(errors, bins), q, bins)
    exact = float(np.quantile(errors, q))
    assert got == pytest.approx(exact, abs=bins.relative_error * exact * (1 + 1e-9) + bins.low)


@given(st.floats(2.0**-13, 31.9))
def test_single_error_is_within_the_relative_error(error):
    bins = ErrorBins()
    got = quantile(count_errors(np.array([error]), bins), 0.5, bins)
    assert got == pytest.approx(error, rel=bins.relative_error * (1 + 1e-9))


@given(errors_of_pixels, errors_of_pixels)
def test_counts_add_up(a, b):
    bins = ErrorBins(-4, 3)
    joined = count_errors(np.concatenate([a, b]), bins)
    np.testing.assert_array_equal(joined, count_errors(a, bins) + count_errors(b, bins))
    assert joined.sum() == a.size + b.size


def test_bins_begin_at_their_edges():
    bins = ErrorBins(-1, 1)
    edges = np.array([0.0, 0.5, np.nextafter(2.0, 0), 2.0, np.inf])
    assert bins.size == 130
    assert np.flatnonzero(count_errors(edges, bins)).tolist() == [0, 1, 128, 129]


def test_quantile_of_perfect_errors_is_zero():
    bins = ErrorBins()
    assert quantile(count_errors(np.zeros(9), bins), 0.9, bins) == 0.0


def test_quantile_is_unknown_without_errors_and_beyond_the_bins():
    bins = ErrorBins()
    assert quantile(count_errors(np.empty(0), bins), 0.5, bins) is None
    counts = count_errors(np.array([1.0, 1e9]), bins)
    assert quantile(counts, 0, bins) == pytest.approx(1.0, rel=bins.relative_error)
    assert quantile(counts, 0.5, bins) is None


def test_histogram_refuses_nonsense():
    bins = ErrorBins()
    with pytest.raises(MetricError, match="NaN or negative"):
        count_errors(np.array([np.nan]), bins)
    with pytest.raises(MetricError, match="NaN or negative"):
        count_errors(np.array([-1.0]), bins)
    with pytest.raises(MetricError, match="counts for"):
        quantile(np.zeros(3, np.int64), 0.5, bins)
    with pytest.raises(ConfigError, match=r"1\.5"):
        quantile(count_errors(np.ones(1), bins), 1.5, bins)
    with pytest.raises(ConfigError, match="empty"):
        ErrorBins(3, 3)
