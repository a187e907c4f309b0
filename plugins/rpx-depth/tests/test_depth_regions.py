import numpy as np
import pytest

from rpx_core.errors import ConfigError, MetricError
from rpx_depth.regions import Region, crop_window, valid_truth


@pytest.mark.parametrize(
    ("crop", "shape", "rows", "columns"),
    [
        ("garg", (375, 1242), (153, 371), (44, 1197)),
        ("eigen", (375, 1242), (124, 342), (44, 1197)),
        ("garg", (352, 1216), (143, 349), (43, 1172)),
        ("nyu-eigen", (480, 640), (45, 471), (41, 601)),
        ("none", (375, 1242), (None, None), (None, None)),
    ],
)
def test_crop_windows(crop, shape, rows, columns):
    assert crop_window(crop, shape) == (slice(*rows), slice(*columns))


@pytest.mark.parametrize(
    ("crop", "shape", "pixels"),
    [
        ("garg", (375, 1242), 251354),
        ("none", (375, 1242), 465750),
        ("nyu-eigen", (480, 640), 426 * 560),
    ],
)
def test_crop_keeps_its_pixels(crop, shape, pixels):
    assert valid_truth(np.ones(shape), Region(crop)).sum() == pixels


def test_nyu_crop_names_the_size_it_needs():
    with pytest.raises(MetricError, match="480x640 depth, got 240x320"):
        valid_truth(np.ones((240, 320)), Region("nyu-eigen"))


def test_crop_needs_a_map():
    with pytest.raises(MetricError, match="height x width"):
        valid_truth(np.ones(7), Region("garg"))


def test_range_includes_both_ends_and_leaves_the_rest_out():
    truth = np.array([0.5, 1.0, 2.0, 3.0, 4.0])
    assert valid_truth(truth, Region("none", 1.0, 3.0)).tolist() == [False, True, True, True, False]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("bound", [0.1, 0.3, 0.7])
def test_a_stored_depth_equal_to_a_bound_is_inside(dtype, bound):
    truth = np.array([bound]).astype(dtype)
    if dtype == np.float16:
        bound = float(truth[0])
    assert valid_truth(truth, Region("none", min_depth=bound)).all()
    assert valid_truth(truth, Region("none", max_depth=bound)).all()


@pytest.mark.parametrize("hole", [0.0, -1.0, np.nan, np.inf])
def test_holes_are_never_valid(hole):
    assert not valid_truth(np.array([hole]), Region()).any()


@pytest.mark.parametrize(
    ("low", "high"), [(2.0, 1.0), (1.0, 1.0), (-1.0, None), (np.nan, None), (None, np.inf)]
)
def test_empty_ranges_are_refused(low, high):
    with pytest.raises(ConfigError, match="depth range"):
        Region("none", low, high)


def test_unknown_crop_lists_the_known_ones():
    with pytest.raises(ConfigError, match="'gerg'") as error:
        Region("gerg")
    assert "garg" in str(error.value)
