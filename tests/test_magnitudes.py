"""Numbers that are finite and cannot be meant."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from rpx_core.magnitudes import METRES, PIXELS, Magnitude, find_absurd, is_finite_number

TEN = Magnitude(10.0, "m")


@pytest.mark.parametrize(
    "values", [[], [10, -10], [[1.0, 2.0]], [np.nan, np.inf, -np.inf], 3, np.float16([1, 2])]
)
def test_what_may_be_meant_passes(values: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_absurd(values, TEN) is None  # type: ignore[arg-type]  # all are array-like


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1, 11], "11"),
        ([np.inf, -10.5], "-10.5"),
        ([[np.nan, 1e308]], "1e+308"),
        (np.array([1, 2**40]), "1.09951e+12"),
    ],
)
def test_the_first_absurd_number_is_told(values: object, shown: str) -> None:
    found = find_absurd(values, TEN)  # type: ignore[arg-type]  # all are array-like
    assert found == f"holds {shown}, which is beyond 10 m"


def test_places_on_the_earth_and_in_the_largest_image_are_believed() -> None:
    earth_centred, sensor_px = 6_378_137.0, 65_536
    assert find_absurd([earth_centred], METRES) is None
    assert find_absurd([sensor_px], PIXELS) is None


@pytest.mark.parametrize("value", [0, -3, 2.5, 10**308, -1.7e308, 5e-324])
def test_whole_and_broken_numbers_are_numbers(value: float) -> None:
    assert is_finite_number(value)


@pytest.mark.parametrize(
    "value", [True, False, None, "1", [1], float("nan"), float("inf"), -float("inf"), 10**400]
)
def test_what_no_finite_float_holds_is_no_number(value: object) -> None:
    assert not is_finite_number(value)
