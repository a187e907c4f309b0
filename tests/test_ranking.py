"""The matching of many images at once against the plain loops that it replaces."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rpx_core.errors import ConfigError
from rpx_core.ranking import matching
from rpx_core.ranking.blocks import rank_in_blocks
from rpx_core.ranking.criteria import (
    ALMOST_ONE,
    COCO_CAPS,
    COCO_SIZES,
    COCO_THRESHOLDS,
    EVERY_SIZE,
    SIZES,
    Criteria,
    SizeRanges,
    reaches,
)
from rpx_core.ranking.matching import Floats, Indices, overlapping_pairs, pair_up
from rpx_core.ranking.means import COCO_RULES, Rules, list_means, mean_outputs
from rpx_core.ranking.ranked_list import (
    DetectionColumns,
    ImageBatch,
    ObjectColumns,
    RankedList,
    rank,
    unpack,
)
from rpx_core.state import decode_state, encode_state, fold

THRESHOLDS = (0.3, 0.5, 0.75)
CRITERIA = Criteria(THRESHOLDS, COCO_SIZES, cap=4, ties="given")
CLASSES = np.array(["a", "b"])


@dataclass(frozen=True)
class Thing:
    """An object or a detection. Overlaps are those of stretches of a line: easy to tie."""

    label: int
    start: int
    length: int
    area: float
    flag: bool
    score: float

    @property
    def end(self) -> int:
        return self.start + self.length


Image = tuple[list[Thing], list[Thing]]

# Few values each: equal stretches, areas and scores are the rule here.
things = st.builds(
    Thing,
    label=st.integers(0, 1),
    start=st.integers(0, 3),
    length=st.integers(0, 4),
    area=st.sampled_from([500.0, 32.0**2, 5000.0, 96.0**2]),
    flag=st.booleans(),
    score=st.sampled_from([0.1, 0.5, 0.9]),
)
images = st.tuples(st.lists(things, max_size=5), st.lists(things, max_size=6))


def overlap(found: Thing, wanted: Thing) -> float:
    """IoU; of a crowd, as every flagged object with an even start is, the share inside."""
    shared = min(found.end, wanted.end) - max(found.start, wanted.start)
    if shared <= 0:
        return 0.0
    union = found.length if is_crowd(wanted) else found.length + wanted.length - shared
    return shared / union


def is_crowd(thing: Thing) -> bool:
    return thing.flag and thing.start % 2 == 0


def batch_of(pictures: Sequence[Image], seed: int | None = None) -> ImageBatch:
    """The images as one batch; with a seed, its rows in another order of the images."""
    wanted = [(number, one) for number, (objects, _) in enumerate(pictures) for one in objects]
    found = [(number, one) for number, (_, answers) in enumerate(pictures) for one in answers]
    if seed is not None:
        order = list(range(len(pictures)))
        random.Random(seed).shuffle(order)
        wanted.sort(key=lambda row: order[row[0]])
        found.sort(key=lambda row: order[row[0]])

    def overlaps(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.float64]:
        pairs = [(found[i], wanted[j]) for i, j in zip(first, second, strict=True)]
        assert all((own[0], own[1].label) == (other[0], other[1].label) for own, other in pairs), (
            "asked for rows of two images or classes"
        )
        return np.array([overlap(own[1], other[1]) for own, other in pairs], np.float64)

    flags = np.array([one.flag for _, one in wanted], np.bool_)
    return ImageBatch(
        ObjectColumns(
            **columns(wanted),
            crowds=np.array([is_crowd(one) for _, one in wanted], np.bool_),
            ignored=flags,
        ),
        DetectionColumns(
            **columns(found),
            scores=np.array([one.score for _, one in found], np.float64),
            excused=np.array([one.flag for _, one in found], np.bool_),
        ),
        overlaps,
        CLASSES,
        len(pictures),
    )


def columns(rows: Sequence[tuple[int, Thing]]) -> dict[str, NDArray[Any]]:
    return {
        "images": np.array([number for number, _ in rows], np.intp),
        "labels": np.array([one.label for _, one in rows], np.intp),
        "areas": np.array([one.area for _, one in rows], np.float64),
        "positions": np.array([(one.start, one.length) for _, one in rows]).reshape(-1, 2),
    }


def assert_equal(first: RankedList, second: RankedList) -> None:
    for field in fields(RankedList):
        one, other = getattr(first, field.name), getattr(second, field.name)
        assert np.array_equal(one, other), field.name


def match_plainly(
    image: Image, label: int, threshold: float, bounds: tuple[float, float]
) -> list[tuple[bool, bool]]:
    """COCO's loop for one class, threshold and size range: (hit, ignored) of each detection."""
    wanted = [one for one in image[0] if one.label == label]
    found = [one for one in image[1] if one.label == label]
    found = sorted(found, key=lambda one: -one.score)[: CRITERIA.cap]
    low, high = bounds
    ignored = {id(one): one.flag or not low <= one.area <= high for one in wanted}
    wanted.sort(key=lambda one: ignored[id(one)])
    taken: set[int] = set()
    outcomes = []
    for own in found:
        best, chosen = min(threshold, ALMOST_ONE), None
        for other in wanted:
            if id(other) in taken and not is_crowd(other):
                continue
            if chosen is not None and not ignored[chosen] and ignored[id(other)]:
                break
            if overlap(own, other) >= best:
                best, chosen = overlap(own, other), id(other)
        if chosen is None:
            outcomes.append((False, own.flag or not low <= own.area <= high))
        else:
            taken.add(chosen)
            outcomes.append((not ignored[chosen], ignored[chosen]))
    return outcomes


@given(images)
def test_every_flag_is_that_of_the_plain_loop(image: Image) -> None:
    ranked = rank(batch_of([image]), CRITERIA)
    hits = unpack(ranked.hits, len(THRESHOLDS)).reshape(4, len(THRESHOLDS), -1)
    ignored = unpack(ranked.ignored, len(THRESHOLDS)).reshape(4, len(THRESHOLDS), -1)
    start = 0
    for name, count in zip(ranked.classes, ranked.detections, strict=True):
        for size, bounds in enumerate(COCO_SIZES.bounds):
            for level, threshold in enumerate(THRESHOLDS):
                rows = slice(start, start + count)
                flags = zip(hits[size, level, rows], ignored[size, level, rows], strict=True)
                label = CLASSES.tolist().index(name)
                assert list(flags) == match_plainly(image, label, threshold, bounds)
        start += count


@given(st.lists(images, min_size=1, max_size=5), st.integers(1, 3), st.integers(0, 9) | st.none())
def test_blocks_of_any_size_give_the_joined_list_of_single_images(
    pictures: list[Image], block: int, seed: int | None
) -> None:
    single = [rank(batch_of([image]), CRITERIA) for image in pictures]
    joined = fold(single)
    assert joined is not None
    batch = batch_of(pictures, seed)
    assert_equal(rank_in_blocks(batch, CRITERIA, block), joined)
    assert_equal(rank(batch, CRITERIA), joined)


@given(images, st.randoms(use_true_random=False))
def test_positions_break_ties_whatever_the_order_of_the_rows(
    image: Image, shuffler: random.Random
) -> None:
    criteria = Criteria(THRESHOLDS, EVERY_SIZE, cap=3, ties="geometry")
    # What is equal in all that orders them must be equal altogether.
    wanted, found = ([_plain(one) for one in side] for side in image)
    first = rank(batch_of([(wanted, found)]), criteria)
    shuffler.shuffle(wanted)
    shuffler.shuffle(found)
    assert_equal(first, rank(batch_of([(wanted, found)]), criteria))


def _plain(thing: Thing) -> Thing:
    return Thing(thing.label, thing.start, thing.length, thing.area, False, thing.score)


@given(images)
def test_lists_survive_bytes(image: Image) -> None:
    ranked = rank(batch_of([image]), CRITERIA)
    assert_equal(decode_state(RankedList, encode_state(ranked)), ranked)


@given(images)
def test_images_in_which_the_cap_cuts_are_counted(image: Image) -> None:
    longest = max(sum(one.label == label for one in image[1]) for label in (0, 1))
    assert int(rank(batch_of([image]), CRITERIA).truncated) == (longest > 4)


def curves_plainly(
    pictures: Sequence[Image], label: int, size: int, threshold: float
) -> tuple[int, list[float], float]:
    """pycocotools' `accumulate` for one class: objects, precision at the 101 levels, recall."""
    low, high = COCO_SIZES.bounds[size]
    flags, scores = [], []
    objects = 0
    for image in pictures:
        own = sorted((one for one in image[1] if one.label == label), key=lambda one: -one.score)
        scores += [one.score for one in own[: CRITERIA.cap]]
        flags += match_plainly(image, label, threshold, (low, high))
        objects += sum(
            one.label == label and not one.flag and low <= one.area <= high for one in image[0]
        )
    order = np.argsort(-np.array(scores), kind="mergesort")
    hit = np.array([flags[i][0] for i in order], np.bool_)
    miss = np.array([not any(flags[i]) for i in order], np.bool_)
    right, wrong = np.cumsum(hit, dtype=float), np.cumsum(miss, dtype=float)
    recall = right / objects if objects else right
    precision = (right / (wrong + right + np.spacing(1))).tolist()
    for i in range(len(precision) - 1, 0, -1):
        precision[i - 1] = max(precision[i - 1], precision[i])
    places = np.searchsorted(recall, np.linspace(0.0, 1.0, 101), side="left")
    levels = [precision[place] if place < len(precision) else 0.0 for place in places]
    return objects, levels, float(recall[-1]) if len(recall) else 0.0


def every_cell() -> Iterator[tuple[int, int, int, float]]:
    for label in range(len(CLASSES)):
        for size in range(len(COCO_SIZES.names)):
            for level, threshold in enumerate(THRESHOLDS):
                yield label, size, level, threshold


@given(st.lists(images, min_size=1, max_size=4))
def test_precision_and_recall_are_those_of_the_plain_loop_to_the_last_bit(
    pictures: list[Image],
) -> None:
    scores = Rules(CRITERIA, (4,)).score(rank(batch_of(pictures), CRITERIA))
    for label, size, level, threshold in every_cell():
        objects, precision, recall = curves_plainly(pictures, label, size, threshold)
        rows = np.flatnonzero(scores.classes == CLASSES[label])
        assert objects == scores.objects[rows, size].sum()
        if objects:
            assert scores.precision[rows[0], size, level].tolist() == precision
            assert scores.recall[0, rows[0], size, level] == recall


@given(st.lists(images, min_size=1, max_size=4))
def test_means_leave_out_classes_without_objects(pictures: list[Image]) -> None:
    scores = Rules(CRITERIA, (4,)).score(rank(batch_of(pictures), CRITERIA))
    each = [scores.precision_of(label) for label in CLASSES]
    known = [value for value in each if value is not None]
    assert [scores.objects_of(label) > 0 for label in CLASSES] == [x is not None for x in each]
    mean = scores.mean_precision(0, range(len(THRESHOLDS)))
    assert mean == (pytest.approx(sum(known) / len(known)) if known else None)
    recalls = [x for label in CLASSES if (x := scores.recall_of(label)) is not None]
    assert scores.mean_recall(0, 0) == (
        pytest.approx(sum(recalls) / len(recalls)) if recalls else None
    )
    assert (scores.precision_of("z"), scores.recall_of("z"), scores.objects_of("z")) == (
        None,
        None,
        0,
    )


def test_grouped_ties_have_the_precision_of_the_threshold_that_takes_them_all() -> None:
    wanted = [Thing(0, 0, 4, 500.0, False, 0.0)]
    right, wrong = Thing(0, 0, 4, 500.0, False, 0.5), Thing(0, 9, 4, 500.0, False, 0.5)
    for answers in ([right, wrong], [wrong, right]):
        ranked = rank(batch_of([(wanted, answers)]), Criteria((0.5,), EVERY_SIZE))
        grouped = Rules(Criteria((0.5,), EVERY_SIZE), (100,)).score(ranked)
        assert grouped.mean_precision(0, [0]) == 0.5


def test_nothing_at_all_is_a_list_too() -> None:
    ranked = rank(batch_of([([], [])]), COCO_RULES.criteria)
    scores = COCO_RULES.score(ranked)
    assert {mean.of(scores) for mean in list_means(COCO_RULES).values()} == {None}
    assert_equal(rank_in_blocks(batch_of([]), CRITERIA), rank(batch_of([]), CRITERIA))


def test_overlap_equal_to_the_threshold_matches() -> None:
    # RW-059
    half = np.array([0.5])
    assert reaches(half, 0.5).all()
    assert not reaches(half, float(np.nextafter(0.5, 1))).any()
    assert reaches(np.array([1 - 1e-12]), 1.0).all()


def test_area_on_an_edge_is_in_one_range_or_in_both() -> None:
    # RW-011 b
    edge = np.array([32.0**2])
    assert [bool(out[0]) for out in SIZES.outside(edge)] == [False, True, False, True]
    assert [bool(out[0]) for out in COCO_SIZES.outside(edge)] == [False, False, False, True]
    assert not SIZES.outside(np.array([1e12]))[3].any()


@pytest.mark.parametrize(
    ("names", "bounds"),
    [
        (("all", "all"), ((0.0, 1.0), (1.0, 2.0))),
        (("all",), ((0.0, 1.0), (1.0, 2.0))),
        (("all",), ((2.0, 1.0),)),
        (("all",), ((-1.0, 1.0),)),
    ],
)
def test_impossible_size_ranges_are_refused(
    names: tuple[str, ...], bounds: tuple[tuple[float, float], ...]
) -> None:
    with pytest.raises(ConfigError, match="size range"):
        SizeRanges(names, bounds)


def test_the_table_of_means_has_the_names_and_the_order_of_coco() -> None:
    means = list_means(COCO_RULES)
    assert tuple(means) == (
        *("ap", "ap50", "ap75", "ap_small", "ap_medium", "ap_large"),
        *("ar1", "ar10", "ar100", "ar_small", "ar_medium", "ar_large"),
    )
    outputs = mean_outputs(means)
    assert {(out.headline, out.better, out.best) for out in outputs.values()} == {
        ("pooled", "higher", 1.0)
    }
    assert all("sample" not in out.aggregates for out in outputs.values())
    assert (COCO_THRESHOLDS[8], COCO_CAPS) == (0.8999999999999999, (1, 10, 100))


def test_many_pairs_are_looked_at_in_blocks_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    objects = np.sort(rng.integers(0, 9, 40))
    detections = np.sort(rng.integers(0, 9, 70))
    table = rng.uniform(0, 1, (70, 40))
    asked: list[int] = []

    def overlap(first: Indices, second: Indices) -> Floats:
        asked.append(len(first))
        return np.asarray(table[first, second])

    first, second = pair_up(detections, objects)
    enough = table[first, second] >= 0.4
    for size in (1, 7, 100, 10**6):
        monkeypatch.setattr(matching, "MAX_PAIRS", size)
        asked.clear()
        pairs = overlapping_pairs(detections, objects, overlap, 0.4)
        np.testing.assert_array_equal(pairs.detections, first[enough])
        np.testing.assert_array_equal(pairs.objects, second[enough])
        np.testing.assert_array_equal(pairs.overlaps, table[first, second][enough])
        assert sum(asked) == len(first)
        assert max(asked) <= size + 40


def test_without_anything_there_are_no_pairs() -> None:
    none = np.zeros(0, np.intp)
    pairs = overlapping_pairs(none, none, lambda first, second: np.zeros(len(first)), 0.5)
    assert (len(pairs.detections), len(pairs.objects), len(pairs.overlaps)) == (0, 0, 0)
