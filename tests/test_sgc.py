"""Stack geometric coherence: the corrected and the published measure, and their laws."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

import rpx_core as rpx
from rpx_core.coherence.metrics import (
    Coherence,
    CoherenceOptions,
    PublishedCoherence,
    PublishedCoherenceOptions,
)
from rpx_core.contracts import Answer, Sample, Undefined
from rpx_core.errors import MetricError
from rpx_core.state import decode_state, encode_state, fold

SAMPLE = Sample("kitchen_clutter_0")
Maps = NDArray[Any]

grids = arrays(np.bool_, (7, 9), elements=st.booleans())
label_maps = arrays(np.int32, (6, 8), elements=st.integers(0, 2))
depth_maps = arrays(np.float32, (6, 8), elements=st.sampled_from([0.0, 0.5, 1.0, 1.05, 2.0]))


def split(column: int, *, shape: tuple[int, int] = (9, 9)) -> NDArray[np.int32]:
    """Label 0 to the left of a column, 1 from it on."""
    labels = np.zeros(shape, np.int32)
    labels[:, column:] = 1
    return labels


def step(column: int, *, shape: tuple[int, int] = (9, 9)) -> NDArray[np.float32]:
    """2 m to the left of a column, 1 m from it on."""
    return np.where(split(column, shape=shape), 1, 2).astype(np.float32)


def line(column: int, *, shape: tuple[int, int] = (9, 9)) -> NDArray[np.bool_]:
    """A boundary that fills one column."""
    edges = np.zeros(shape, np.bool_)
    edges[:, column] = True
    return edges


def answers(
    mask_edges: Maps, depth_edges: Maps, *, mask: Maps | None = None, depth: Maps | None = None
) -> dict[str, Answer]:
    """What two tasks say of a sample; by default nothing is unknown."""
    mask = np.zeros(mask_edges.shape, np.int32) if mask is None else mask
    depth = np.ones(mask_edges.shape, np.float32) if depth is None else depth
    return {
        "object_segmentation": Answer(SimpleNamespace(mask=mask), mask_edges),
        "monocular_depth": Answer(SimpleNamespace(depth_map=depth), depth_edges),
    }


def measure(given: dict[str, Answer], tolerance: float = 1) -> dict[str, float | None] | None:
    metric = Coherence(CoherenceOptions(tolerance_px=tolerance))
    state = metric.measure(SAMPLE, given)
    return None if isinstance(state, Undefined) else dict(metric.result(state))


def published(labels: Maps, depth: Maps) -> dict[str, float | None] | None:
    metric = PublishedCoherence(PublishedCoherenceOptions())
    state = metric.measure(SAMPLE, answers(labels > 9, labels > 9, mask=labels, depth=depth))
    return None if isinstance(state, Undefined) else dict(metric.result(state))


def test_edges_in_one_place_agree_perfectly() -> None:
    perfect = {"sgc": 1.0, "precision": 1.0, "recall": 1.0, "coverage": 1.0}
    assert measure(answers(line(4), line(4)), tolerance=0) == perfect


@pytest.mark.parametrize(("distance", "expected"), [(0, 1.0), (2, 1.0), (3, 0.0), (4, 0.0)])
def test_edges_agree_up_to_the_tolerance(distance: int, expected: float) -> None:
    found = measure(answers(line(2), line(2 + distance)), tolerance=2)
    assert found is not None
    assert found["sgc"] == found["precision"] == found["recall"] == expected


def test_precision_is_of_mask_edges_and_recall_of_depth_edges() -> None:
    upper = line(4)
    upper[3:] = False
    found = measure(answers(line(4), upper), tolerance=0)
    assert found is not None
    assert (found["precision"], found["recall"]) == (pytest.approx(3 / 9), 1.0)
    assert found["sgc"] == pytest.approx(0.5)


@pytest.mark.parametrize("missing", [0.0, -1.0, np.nan, np.inf])
def test_edges_near_unanswered_depth_are_not_judged(missing: float) -> None:
    depth = np.ones((9, 9), np.float32)
    depth[0, 0] = missing
    edges = line(0) | line(5)
    # Of column 0, the pixels in rows 0 to 2 lie within 2 pixels of the hole.
    found = measure(answers(edges, line(5), depth=depth), tolerance=2)
    assert found is not None
    assert found["precision"] == pytest.approx(9 / 15)
    assert found["coverage"] == pytest.approx((15 + 9) / (18 + 9))


def test_edges_near_void_labels_are_not_judged() -> None:
    labels = np.zeros((9, 9), np.int32)
    labels[:, 4] = -1
    assert measure(answers(line(3), line(3), mask=labels)) is None


def test_a_match_near_a_hole_counts_no_more_than_a_miss() -> None:
    depth = np.ones((9, 9), np.float32)
    depth[:, 0] = 0
    judged = measure(answers(line(1) | line(6), line(1) | line(8), depth=depth))
    assert judged is not None
    assert (judged["precision"], judged["recall"]) == (0.0, 0.0)
    assert judged["sgc"] == 0.0


@pytest.mark.parametrize(
    ("masks", "depth", "reason"),
    [
        (line(4), line(4) & False, "the depth has no edge that can be judged"),
        (line(4) & False, line(4), "the masks have no edge that can be judged"),
    ],
)
def test_without_an_edge_on_either_side_nothing_is_defined(
    masks: Maps, depth: Maps, reason: str
) -> None:
    metric = Coherence(CoherenceOptions())
    assert metric.measure(SAMPLE, answers(masks, depth)) == Undefined(reason)


def test_pixels_pool_over_samples() -> None:
    metric = Coherence(CoherenceOptions(tolerance_px=0))
    small = line(0, shape=(3, 4))
    states = [
        metric.measure(SAMPLE, answers(line(4), line(4))),
        metric.measure(SAMPLE, answers(small, line(2, shape=(3, 4)))),
    ]
    pooled = metric.result(fold(states))
    assert pooled["precision"] == pooled["recall"] == pytest.approx(9 / 12)


@pytest.mark.parametrize(
    "metric", [Coherence(CoherenceOptions()), PublishedCoherence(PublishedCoherenceOptions())]
)
def test_maps_of_different_sizes_are_refused(metric: Coherence | PublishedCoherence) -> None:
    depth = line(4, shape=(9, 8))
    given = answers(line(4), depth, depth=np.ones((9, 8)))
    with pytest.raises(MetricError, match=r"masks are \(9, 9\) and depth is \(9, 8\)"):
        metric.measure(SAMPLE, given)


def test_predictions_without_the_published_fields_are_refused() -> None:
    given = answers(line(4), line(4))
    bare = dataclasses.replace(given["monocular_depth"], prediction=SimpleNamespace(depth=1))
    with pytest.raises(MetricError, match="monocular_depth has no array `depth_map`"):
        measure({**given, "monocular_depth": bare})


def test_inputs_are_left_alone() -> None:
    given = answers(line(4), line(5), mask=split(4), depth=step(4))
    maps = [
        array for one in given.values() for array in (one.boundary, *vars(one.prediction).values())
    ]
    before = [array.copy() for array in maps]
    measure(given)
    published(split(4), step(4))
    for array, copy in zip(maps, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_pictures_show_what_agrees_and_what_does_not() -> None:
    metric = Coherence(CoherenceOptions(tolerance_px=0))
    rgb = np.full((9, 9, 3), 100, np.uint8)
    sample = dataclasses.replace(SAMPLE, rgb=rgb)
    pictures = metric.preview(sample, answers(line(1) | line(4), line(4) | line(7)))
    assert [picture.image.shape for picture in pictures] == [(9, 9, 3)] * 2
    np.testing.assert_array_equal(pictures[0].image, rgb)
    row = [tuple(int(value) for value in pixel) for pixel in pictures[1].image[0]]
    assert row[1] == (230, 159, 0)
    assert row[4] == (255, 255, 255)
    assert row[7] == (86, 180, 233)
    assert row[0] == (40, 40, 40)


def test_pictures_without_an_image_show_edges_alone() -> None:
    given = answers(line(1), line(7), mask=split(2), depth=step(6))
    for metric in (Coherence(CoherenceOptions()), PublishedCoherence(PublishedCoherenceOptions())):
        (picture,) = metric.preview(SAMPLE, given)
        assert len(np.unique(picture.image.reshape(-1, 3), axis=0)) > 1


@given(grids, grids, st.sampled_from([0, 1, 2, 3]))
def test_swapping_the_maps_swaps_precision_and_recall(
    first: Maps, second: Maps, tolerance: int
) -> None:
    one, other = (measure(answers(*maps), tolerance) for maps in ((first, second), (second, first)))
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert (one["precision"], one["recall"]) == (other["recall"], other["precision"])
        assert one["sgc"] == other["sgc"]


@given(grids)
def test_any_map_agrees_with_itself(edges: Maps) -> None:
    found = measure(answers(edges, edges), tolerance=0)
    assert found is None if not edges.any() else found is not None and found["sgc"] == 1.0


@given(grids, grids, st.sampled_from([0, 1, 2]))
def test_a_larger_tolerance_never_lowers_it(first: Maps, second: Maps, tolerance: int) -> None:
    strict, lenient = (measure(answers(first, second), t) for t in (tolerance, tolerance + 1))
    if strict is not None and lenient is not None:
        for name in ("sgc", "precision", "recall"):
            assert (strict[name] or 0) <= (lenient[name] or 0)


@given(arrays(np.bool_, (5, 6), elements=st.booleans()), st.integers(0, 3))
def test_edges_moved_beyond_the_tolerance_agree_less(pattern: Maps, tolerance: int) -> None:
    wide = np.zeros((5, 40), np.bool_)
    wide[:, :6] = pattern
    moved = np.roll(wide, 6 + tolerance, axis=1)
    near_by, far_off = (measure(answers(wide, other), tolerance) for other in (wide, moved))
    if near_by is not None and far_off is not None:
        assert near_by["sgc"] == 1.0
        assert far_off["sgc"] == 0.0


@given(st.lists(st.tuples(grids, grids), min_size=1, max_size=5), st.randoms())
def test_pooled_counts_do_not_depend_on_the_order(
    pairs: list[tuple[Maps, Maps]], random: Any
) -> None:
    metric = Coherence(CoherenceOptions())
    measured = [metric.measure(SAMPLE, answers(*pair)) for pair in pairs]
    states = [state for state in measured if not isinstance(state, Undefined)]
    shuffled = random.sample(states, len(states))
    stored = [decode_state(metric.State, encode_state(state)) for state in shuffled]
    if states:
        assert metric.result(fold(states)) == metric.result(fold(stored))


# A step between columns 3 and 4: mask edges are column 3, depth edges columns 3 and 4. Dilated
# twice these are columns 1 to 5 (45 pixels) and 1 to 6 (54 pixels).
STEP = {"sgc": 2 * (45 / 54) / (1 + 45 / 54), "precision": 1.0, "recall": 45 / 54}


def test_the_published_measure_overlaps_dilated_maps() -> None:
    assert published(split(4), step(4)) == pytest.approx(STEP)
    found = rpx.compute_sgc([split(4)], [step(4)])
    assert found == rpx.StackGeometricCoherenceResult(
        pytest.approx(STEP["sgc"]), 1.0, pytest.approx(45 / 54), 1
    )


def test_published_edges_have_a_threshold_and_a_dilation() -> None:
    # Without dilation, column 3 against columns 3 and 4.
    thin = rpx.compute_sgc([split(4)], [step(4)], boundary_dilation=0)
    assert (thin.precision, thin.recall) == (1.0, 0.5)
    # The gradient at the step is 0.5 m per pixel, not more.
    flat = rpx.compute_sgc([split(4)], [step(4)], depth_gradient_threshold=0.5)
    assert (flat.precision, flat.recall) == (0.0, 1.0)


def test_the_published_score_is_of_mean_precision_and_mean_recall() -> None:
    found = rpx.compute_sgc([split(4), split(3)], [step(4), step(7)])
    # Columns 0 to 4 against 4 to 8: one of five, and one of five.
    precision, recall = (1 + 1 / 5) / 2, (45 / 54 + 1 / 5) / 2
    assert found.precision == pytest.approx(precision)
    assert found.recall == pytest.approx(recall)
    assert found.sgc_score == pytest.approx(2 * precision * recall / (precision + recall))


def test_published_sentinels_stay_in_the_published_function() -> None:
    flat = np.full((9, 9), 2, np.float32)
    found = rpx.compute_sgc([split(4), split(4)], [step(4), flat])
    assert (found.precision, found.recall) == (0.5, pytest.approx((45 / 54 + 1) / 2))
    assert published(split(4), flat) is None
    assert published(np.zeros((9, 9), np.int32), step(4)) is None


def test_no_samples_are_zero_as_published() -> None:
    assert rpx.compute_sgc([], []) == rpx.StackGeometricCoherenceResult(0.0, 0.0, 0.0, 0)


@given(st.lists(st.tuples(label_maps, depth_maps), min_size=1, max_size=4))
def test_a_run_pools_to_the_published_score(pairs: list[tuple[Maps, Maps]]) -> None:
    metric = PublishedCoherence(PublishedCoherenceOptions())
    kept = []
    for labels, depth in pairs:
        given = answers(labels > 9, labels > 9, mask=labels, depth=depth)
        state = metric.measure(SAMPLE, given)
        if not isinstance(state, Undefined):
            kept.append((labels, depth, state))
    if not kept:
        return
    labels, depths, states = zip(*kept, strict=True)
    whole = rpx.compute_sgc(labels, depths)
    pooled = metric.result(fold(states))
    assert pooled["sgc"] == pytest.approx(whole.sgc_score, abs=1e-12)
    assert pooled["precision"] == pytest.approx(whole.precision, abs=1e-12)


@pytest.mark.parametrize(
    ("masks", "depths", "says"),
    [
        ([split(4)], [], "0 depth maps for 1 masks"),
        ([split(4)], [step(4, shape=(9, 8))], r"masks are \(9, 9\) and depth is \(9, 8\)"),
        ([np.zeros(9)], [np.zeros(9)], "height x width"),
    ],
)
def test_what_is_not_one_image_is_refused(masks: list[Maps], depths: list[Maps], says: str) -> None:
    with pytest.raises(MetricError, match=says):
        rpx.compute_sgc(masks, depths)
