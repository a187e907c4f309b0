"""Pose AUC by each of its definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_pose.auc import auc_exact, auc_grid, auc_trapezoid, mean_average_accuracy

ALL = (auc_exact, auc_trapezoid, auc_grid)
errors_lists = st.lists(
    st.one_of(st.floats(0, 180), st.just(np.inf), st.just(np.nan)), min_size=1, max_size=30
)


# RW-080
def test_three_definitions_differ_on_the_same_errors():
    errors = np.array([1.0, 3, 8, 25])
    trapezoid = [auc_trapezoid(errors, limit) for limit in (5, 10, 20)]
    exact = [auc_exact(errors, limit) for limit in (5, 10, 20)]
    np.testing.assert_allclose(trapezoid, [0.375, 0.55, 0.65], atol=1e-12)
    np.testing.assert_allclose(exact, [0.3, 0.45, 0.6], atol=1e-12)


def test_errors_of_one_and_two_degrees_at_five():
    errors = np.array([1.0, 2])
    assert auc_trapezoid(errors, 5) == pytest.approx(0.8)
    assert auc_exact(errors, 5) == pytest.approx(0.7)
    assert mean_average_accuracy(errors, 5) == pytest.approx(0.9)


# The published RPX numbers, a trapezoid rule on 100 places.
def test_grid_gives_the_published_values():
    areas = [auc_grid(np.array([1.0, 3, 8, 30]), limit) for limit in (5, 10, 20)]
    np.testing.assert_allclose(areas, [0.3005, 0.4508, 0.6023], atol=5e-5)


# RW-079: dropping the failures would give 0.8.
def test_failed_pairs_stay_in_the_denominator():
    errors = np.array([1.0, 2, np.inf, np.nan])
    assert auc_trapezoid(errors, 5) == pytest.approx(0.4)
    assert auc_exact(errors, 5) == pytest.approx(0.35)
    assert mean_average_accuracy(errors, 5) == pytest.approx(0.45)


def test_no_errors_have_no_area():
    nothing = np.zeros(0)
    assert [area(nothing, 5) for area in ALL] == [None, None, None]
    assert mean_average_accuracy(nothing, 10) is None


@pytest.mark.parametrize("area", ALL)
def test_zero_errors_fill_the_area_and_failures_leave_it_empty(area):
    assert area(np.zeros(7), 5) == pytest.approx(1)
    assert area(np.full(7, np.inf), 5) == 0


@pytest.mark.parametrize("area", ALL)
@given(errors=errors_lists, data=st.data())
def test_area_is_a_share_whatever_the_order(area, errors, data):
    shuffled = data.draw(st.permutations(errors))
    value = area(np.array(errors), 10)
    assert 0 <= value <= 1
    assert area(np.array(shuffled), 10) == value


@pytest.mark.parametrize("area", [*ALL, mean_average_accuracy])
@given(errors=errors_lists, data=st.data())
def test_a_larger_error_never_raises_the_area(area, errors, data):
    place = data.draw(st.integers(0, len(errors) - 1))
    worse = list(errors)
    worse[place] = np.inf if np.isnan(worse[place]) else worse[place] * 1.5 + 0.1
    assert area(np.array(worse), 10) <= area(np.array(errors), 10) + 1e-12


@given(errors=st.lists(st.floats(0, 30), min_size=1, max_size=20))
def test_exact_area_is_the_mean_of_the_areas_of_its_parts(errors):
    parts = [auc_exact(np.array([error]), 10) for error in errors]
    assert auc_exact(np.array(errors), 10) == pytest.approx(np.mean(parts), abs=1e-12)
