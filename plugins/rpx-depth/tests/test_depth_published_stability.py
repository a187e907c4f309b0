"""The published temporal stability of depth maps: its formula, its turning, its sentinels."""

import numpy as np
import pytest

from rpx_core.errors import MetricError
from rpx_depth.published_stability import published_temporal_stability_depth


def pose(angle=0.0, *, axis=2, translation=(0, 0, 0)) -> np.ndarray:
    """A pose turned about one axis, by default the optical one."""
    first, second = (place for place in range(3) if place != axis)
    matrix = np.eye(4)
    matrix[[first, second], [first, second]] = np.cos(angle)
    matrix[second, first], matrix[first, second] = np.sin(angle), -np.sin(angle)
    matrix[:3, 3] = translation
    return matrix


def test_published_example():
    scores = published_temporal_stability_depth(
        [np.array([[1, 2, 3]]), np.array([[1.1, 2, 2.9]])], [None, None]
    )
    assert scores == pytest.approx((0.9667,), abs=5e-5)


def test_published_score_ignores_all_but_roll():
    frames = [np.array([[1.0, 2, 3]]), np.array([[1.1, 2, 2.9]])]
    poses = [pose(translation=(1, 2, 3)), pose(0.3, axis=0, translation=(9, 9, 9))]
    assert published_temporal_stability_depth(frames, poses) == pytest.approx((0.9667,), abs=5e-5)


def test_published_warp_turns_about_half_width_and_height():
    later = np.arange(1.0, 17.0).reshape(4, 4)
    # A quarter turn: row r, column c shows row c, column 4 - r; row 0 comes from outside.
    turned = np.zeros((4, 4))
    turned[1:] = later[:, :0:-1].T
    earlier = turned.copy()
    earlier[0] = 50.0
    poses = [pose(), pose(np.pi / 2)]
    assert published_temporal_stability_depth([earlier, later], poses) == pytest.approx((1.0,))
    assert published_temporal_stability_depth([earlier, later], poses[::-1])[0] < 0.9


def test_published_warp_is_bilinear_with_zeros_outside():
    poses = [pose(), pose(np.pi / 4)]
    later = np.full((2, 2), 8.0)
    # About (1, 1), an eighth turn samples pixel (0, 0) 0.414 above the image and pixel (0, 1)
    # 0.707 to its right; the other two lie inside.
    earlier = np.array([[8 * (2 - np.sqrt(2)), 8 * (1 - np.sqrt(0.5))], [8.0, 8.0]])
    (score,) = published_temporal_stability_depth([earlier, later], poses)
    assert score == pytest.approx(1.0, abs=1e-6)


def test_published_sentinels_are_kept():
    empty, full = np.zeros((2, 2)), np.ones((2, 2))
    assert published_temporal_stability_depth([empty, full, full], [None] * 3) == (1.0, 1.0)
    assert published_temporal_stability_depth([full], [None]) == ()


def test_published_score_needs_a_pose_or_none_per_frame():
    with pytest.raises(MetricError, match="2 maps with 1 poses"):
        published_temporal_stability_depth([np.ones((2, 2))] * 2, [None])
