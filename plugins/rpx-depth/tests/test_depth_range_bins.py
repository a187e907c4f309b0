import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.errors import ConfigError
from rpx_depth.range_bins import ROBOTICS_BINS, RangeBins, bin_masks, square_root_bins


def names_of(truth, bins=ROBOTICS_BINS) -> list[str]:
    """The ranges that hold each pixel, joined; empty for a pixel in none."""
    masks = bin_masks(truth, bins)
    return ["+".join(name for name in bins.names if masks[name][i]) for i in range(truth.size)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranges_begin_at_their_near_edge_and_the_last_includes_its_end(dtype):
    truth = np.array([0.29, 0.3, 0.99, 1.0, 2.4999, 2.5, 5.0, 5.01]).astype(dtype)
    assert names_of(truth) == ["", "near", "near", "mid", "mid", "far", "far", ""]


def test_edges_are_compared_in_half_precision_too():
    assert names_of(np.array([1.0, 2.5, 70.0], np.float16)) == ["mid", "far", ""]


@pytest.mark.parametrize("hole", [0.0, -0.5, np.nan, np.inf])
def test_holes_are_in_no_range(hole):
    masks = bin_masks(np.array([hole]), square_root_bins(0.0, 80.0))
    assert not any(mask.any() for mask in masks.values())


@given(arrays(np.float32, 40, elements=st.floats(0, 100, width=32)))
def test_ranges_partition_their_union(truth):
    masks = bin_masks(truth, square_root_bins(0.01, 80.0))
    whole = masks.pop("all")
    np.testing.assert_array_equal(sum(mask.astype(int) for mask in masks.values()), whole)


def test_square_root_edges():
    bins = square_root_bins(1.0, 16.0)
    assert bins.bounds() == {"near": (1.0, 4.0), "mid": (4.0, 9.0), "far": (9.0, 16.0)}


def test_thin_ranges_are_undefined():
    assert [ROBOTICS_BINS.is_defined(pixels) for pixels in (0, 99, 100)] == [False, False, True]


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 80.0), (80.0, 80.0), (80.0, 1.0), (0.0, np.inf), (np.nan, 80.0)]
)
def test_bad_ranges_are_refused(low, high):
    with pytest.raises(ConfigError, match="depth range"):
        square_root_bins(low, high)


@pytest.mark.parametrize(
    ("names", "edges"),
    [
        (("near", "far"), (0.0, 1.0)),
        (("near",), (1.0, 0.5)),
        (("near",), (-1.0, 0.5)),
        (("near",), (0.0, np.inf)),
        (("all",), (0.0, 1.0)),
        ((), (0.0,)),
    ],
)
def test_malformed_bins_are_refused(names, edges):
    with pytest.raises(ConfigError):
        RangeBins(names, edges)
