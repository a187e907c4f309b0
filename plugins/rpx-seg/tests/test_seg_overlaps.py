"""Counting shared pixels, and assigning segments by them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.errors import MetricError
from rpx_seg.assignment import assign
from rpx_seg.overlaps import count_pairs, overlap_segments

LARGE = 2**31 - 1
FAR_APART = st.sampled_from([-1, 0, 1, 2, 255, 257, 65_536, LARGE])


def listed(pairs) -> dict[tuple[int, int], int]:
    return {
        (int(a), int(b)): int(n)
        for a, b, n in zip(pairs.first, pairs.second, pairs.pixels, strict=True)
    }


def by_pixel(first, second) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for pair in zip(first.reshape(-1).tolist(), second.reshape(-1).tolist(), strict=True):
        found[pair] = found.get(pair, 0) + 1
    return found


@given(
    arrays(np.int32, (5, 7), elements=FAR_APART | st.integers(-1, 5)),
    arrays(np.int32, (5, 7), elements=FAR_APART | st.integers(0, 5)),
)
def test_pairs_are_what_counting_pixel_by_pixel_gives(first, second):
    pairs = count_pairs(first, second)
    assert listed(pairs) == by_pixel(first, second)
    assert list(listed(pairs)) == sorted(listed(pairs))


# Long stretches are counted as such, noise pixel by pixel.
@pytest.mark.parametrize("top", [3, 10**6, LARGE])
@pytest.mark.parametrize("smooth", [True, False])
def test_large_maps_are_counted_exactly(top, smooth):
    rng = np.random.default_rng(0)
    values = np.array([-1, 0, 1, 2, top], np.int64)
    small = values[rng.integers(0, 5, (2, 12, 15))]
    first, second = small.repeat(20, 1).repeat(20, 2) if smooth else small
    pairs = count_pairs(first, second.clip(0))
    assert listed(pairs) == by_pixel(first, second.clip(0))


# RW-027
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.uint32, np.int64])
def test_narrow_types_do_not_wrap(dtype):
    truth = np.array([[20, 20, 7]], dtype)
    assert listed(count_pairs(truth, truth.copy())) == {(7, 7): 1, (20, 20): 2}
    wide = np.array([[300, 20, 7]])
    assert listed(count_pairs(truth, wide)) == {(7, 7): 1, (20, 20): 1, (20, 300): 1}


def test_flags_are_labels_zero_and_one():
    flags = np.array([[True, False], [True, True]])
    assert listed(count_pairs(flags, ~flags)) == {(0, 1): 1, (1, 0): 3}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.zeros((2, 3), int), np.zeros((3, 2), int)),
        (np.zeros((0, 3), int), np.zeros((0, 3), int)),
        (np.zeros((2, 3)), np.zeros((2, 3), int)),
        (np.full((2, 3), 2**40), np.zeros((2, 3), int)),
        (np.full((2, 3), 2**32 - 1, np.uint32), np.zeros((2, 3), int)),
    ],
)
def test_what_is_no_pair_of_label_maps_is_refused(first, second):
    with pytest.raises(MetricError):
        count_pairs(first, second)


def test_void_belongs_to_no_segment_and_no_union():
    truth = np.array([[5, 5, 5, -1, -1, 0]])
    prediction = np.array([[9, 9, 0, 9, 8, 8]])
    overlaps = overlap_segments(truth, prediction)
    assert overlaps.truth_ids.tolist() == [5]
    assert overlaps.truth_areas.tolist() == [3]
    assert overlaps.prediction_ids.tolist() == [8, 9]
    assert overlaps.prediction_areas.tolist() == [2, 3]
    assert overlaps.void_areas.tolist() == [1, 1]
    assert (overlaps.rows.tolist(), overlaps.columns.tolist()) == ([0], [1])
    assert overlaps.iou().tolist() == [2 / 3]


def test_maps_without_segments_have_no_overlaps():
    overlaps = overlap_segments(np.zeros((2, 2), int), np.zeros((2, 2), int))
    assert overlaps.truth_ids.size == overlaps.prediction_ids.size == overlaps.iou().size == 0
    assert assign(overlaps).size == 0


small = arrays(np.int32, (4, 6), elements=st.integers(0, 4))


@given(small, small)
def test_the_assignment_is_the_best_of_all(truth, prediction):
    overlaps = overlap_segments(truth, prediction)
    chosen = assign(overlaps)
    assert len(set(overlaps.rows[chosen].tolist())) == chosen.size
    assert len(set(overlaps.columns[chosen].tolist())) == chosen.size
    table = np.zeros((4, 4))
    table[overlaps.truth_ids[overlaps.rows] - 1, overlaps.prediction_ids[overlaps.columns] - 1] = (
        overlaps.iou()
    )
    best = max(table[range(4), order].sum() for order in itertools.permutations(range(4)))
    assert overlaps.iou()[chosen].sum() == pytest.approx(best, abs=1e-12)


def test_a_worse_pair_is_taken_where_that_makes_the_sum_larger():
    # IoU: 1 with 9 is 7/14, the best pair; 1 with 7 is 3/10 and 2 with 9 4/11.
    truth = np.array([[1] * 10 + [2] * 4])
    prediction = np.array([[7] * 3 + [9] * 11])
    overlaps = overlap_segments(truth, prediction)
    chosen = assign(overlaps)
    assert overlaps.truth_ids[overlaps.rows[chosen]].tolist() == [1, 2]
    assert overlaps.prediction_ids[overlaps.columns[chosen]].tolist() == [7, 9]
