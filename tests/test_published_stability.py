"""The published temporal stability of masks: its formula, its turning, its sentinels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

import rpx_core as rpx
from rpx_core.errors import MetricError
from rpx_core.published.stability import turn_labels

QUARTER = np.pi / 2


def roll(angle: float) -> NDArray[np.float64]:
    """A pose turned about the optical axis."""
    pose = np.eye(4)
    cosine, sine = np.cos(angle), np.sin(angle)
    pose[:2, :2] = [[cosine, -sine], [sine, cosine]]
    return pose


def flag() -> NDArray[np.int64]:
    """A mask without any symmetry, away from the border."""
    mask = np.zeros((12, 12), np.int64)
    mask[3:9, 5] = 1
    mask[3:6, 6:9] = 2
    return mask


def test_the_published_example() -> None:
    masks = [np.array([[0, 0, 1, 1]]), np.array([[0, 1, 1, 1]])]
    found = rpx.compute_temporal_stability_seg(masks, [None, None])
    assert found.ts_score == pytest.approx(0.5833, abs=5e-5)
    assert (found.num_pairs, found.per_pair) == (1, [found.ts_score])


def test_the_score_is_the_mean_over_pairs_in_list_order() -> None:
    one, two = np.array([[0, 0, 1, 1]]), np.array([[0, 1, 1, 1]])
    found = rpx.compute_temporal_stability_seg([one, one, two], [None] * 3)
    assert found.per_pair == [1.0, pytest.approx(7 / 12)]
    assert found.ts_score == pytest.approx((1 + 7 / 12) / 2)


@pytest.mark.parametrize("masks", [[], [np.zeros((2, 2))]])
def test_fewer_than_two_masks_score_one(masks: list[NDArray[np.int64]]) -> None:
    found = rpx.compute_temporal_stability_seg(masks, [None] * len(masks))
    assert found == rpx.TemporalStabilityResult(1.0, 0, [])


def test_negative_ids_are_no_class_and_a_pair_without_any_scores_one() -> None:
    void = np.full((2, 3), -1)
    assert rpx.compute_temporal_stability_seg([void, void], [None, None]).per_pair == [1.0]
    half = np.array([[-1, -1, 4], [-1, -1, 4]])
    whole = np.array([[4, 4, 4], [4, 4, 4]])
    assert rpx.compute_temporal_stability_seg([half, whole], [None, None]).per_pair == [1 / 3]


def test_turning_is_about_half_the_size_with_nothing_outside() -> None:
    labels = np.arange(16).reshape(4, 4)
    # turned[y, x] = labels[x, 4 - y]: column 4 is outside.
    expected = [[-1, -1, -1, -1], [3, 7, 11, 15], [2, 6, 10, 14], [1, 5, 9, 13]]
    assert turn_labels(labels, QUARTER).tolist() == expected
    assert turn_labels(labels, 0.0).tolist() == labels.tolist()


def test_the_later_mask_is_turned_by_the_roll_between_the_poses() -> None:
    before = flag()
    later = turn_labels(before, -QUARTER)
    later[later < 0] = 0

    def score(angle: float) -> float:
        poses = [roll(0.3), roll(0.3 + angle)]
        return rpx.compute_temporal_stability_seg([before, later], poses).ts_score

    # What turning brings in at the border belongs to no id, so background loses a row.
    assert score(QUARTER) > 0.9
    assert score(0.0) < 0.5
    assert score(-QUARTER) < 0.5


def test_without_both_poses_nothing_is_turned() -> None:
    masks = [flag(), flag()]
    for poses in ([None, roll(1.0)], [roll(1.0), None]):
        assert rpx.compute_temporal_stability_seg(masks, poses).ts_score == 1.0


def test_translation_is_ignored_as_published() -> None:
    far = np.eye(4)
    far[:3, 3] = [1, 2, 3]
    assert rpx.compute_temporal_stability_seg([flag(), flag()], [np.eye(4), far]).ts_score == 1.0


@given(arrays(np.int64, (4, 5), elements=st.integers(-1, 3)))
def test_an_unchanged_mask_is_perfectly_stable(mask: NDArray[np.int64]) -> None:
    assert rpx.compute_temporal_stability_seg([mask, mask], [None, None]).ts_score == 1.0


@given(
    arrays(np.int64, (4, 5), elements=st.integers(-1, 3)),
    arrays(np.int64, (4, 5), elements=st.integers(-1, 3)),
)
def test_the_score_is_symmetric_and_a_share(
    first: NDArray[np.int64], second: NDArray[np.int64]
) -> None:
    forth, back = (
        rpx.compute_temporal_stability_seg(list(pair), [None, None]).ts_score
        for pair in ((first, second), (second, first))
    )
    assert forth == back
    assert 0 <= forth <= 1


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(MetricError, match="2 maps with 1 poses"):
        rpx.compute_temporal_stability_seg([flag(), flag()], [None])
    with pytest.raises(MetricError, match=r"\(12, 12\) and \(12, 11\)"):
        rpx.compute_temporal_stability_seg([flag(), flag()[:, 1:]], [None, None])
