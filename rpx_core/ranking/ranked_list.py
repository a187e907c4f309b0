"""The ranked list: what a set of images must remember so that average precision can be computed.

A list is a small mergeable state: per class and image the number of objects, per detection its
score and whether it hits. Lists of images joined in any grouping give the list of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.ranking.criteria import Criteria
from rpx_core.ranking.matching import (
    Flags,
    Floats,
    Indices,
    Matchable,
    Overlap,
    lowest_limit,
    match,
    overlapping_pairs,
)
from rpx_core.state import Cat, Sum


@dataclass(frozen=True, eq=False)
class Columns:
    """Objects or detections of many images, a row each.

    `images` and `labels` are indices, `areas` decide on the size range. `positions` (N, any) tell
    apart what is otherwise equal, where the order of the rows must not.
    """

    images: Indices
    labels: Indices
    areas: Floats
    positions: Floats


@dataclass(frozen=True, eq=False)
class ObjectColumns(Columns):
    """What is there; `ignored` objects (every crowd is one) are neither required nor penalised."""

    crowds: Flags
    ignored: Flags


@dataclass(frozen=True, eq=False)
class DetectionColumns(Columns):
    """What was detected; `excused` ones are no false alarm when they miss."""

    scores: Floats
    excused: Flags


@dataclass(frozen=True, eq=False)
class ImageBatch:
    """Objects and detections of so many `images`; `classes` are the names that labels index.

    `overlap` is asked only for rows of one image and class.
    """

    objects: ObjectColumns
    detections: DetectionColumns
    overlap: Overlap
    classes: NDArray[Any]
    images: int = 1


@dataclass(frozen=True, eq=False)
class RankedList:
    """Matched detections of any number of images.

    A row of `classes`, `objects` (how many count, by size range) and `detections` (how many follow)
    per class of an image; a row of `scores`, `hits` and `ignored` per detection, from the highest
    score down in its class and image. The bits of a row, (ranges, bytes), are its thresholds.
    """

    classes: Cat
    objects: Cat
    detections: Cat
    scores: Cat
    hits: Cat
    ignored: Cat
    images: Sum
    truncated: Sum
    """Images in which the cap left detections out."""


def rank(batch: ImageBatch, criteria: Criteria) -> RankedList:
    """The ranked list of a batch: that of its single images, joined in order."""
    objects, object_keys = batch.objects, _keys(batch.objects, batch)
    detections, detection_keys = batch.detections, _keys(batch.detections, batch)
    by_score = _rank_detections(detections, detection_keys, criteria)
    kept = _below_cap(detection_keys[by_score], criteria.cap)
    truncated = np.unique(detections.images[by_score[~kept]]).size
    chosen, order = by_score[kept], _order_objects(objects, object_keys, criteria)
    keys = np.union1d(object_keys, detection_keys)
    out = criteria.sizes.outside(objects.areas) | objects.ignored
    excused = criteria.sizes.outside(detections.areas) | detections.excused
    wanted = Matchable(np.searchsorted(keys, object_keys)[order], out[:, order])
    found = Matchable(np.searchsorted(keys, detection_keys)[chosen], excused[:, chosen])
    pairs = overlapping_pairs(
        found.cells,
        wanted.cells,
        lambda first, second: batch.overlap(chosen[first], order[second]),
        lowest_limit(criteria.thresholds),
    )
    matches = match(found, wanted, objects.crowds[order], pairs, criteria.thresholds)
    counted = [np.bincount(wanted.cells[~row], minlength=len(keys)) for row in wanted.out]
    return RankedList(
        classes=batch.classes[keys % max(len(batch.classes), 1)],
        objects=np.stack(counted, axis=1).astype(np.int32),
        detections=np.bincount(found.cells, minlength=len(keys)).astype(np.int32),
        scores=detections.scores[chosen],
        hits=_pack(matches.hits),
        ignored=_pack(matches.ignored),
        images=np.int64(batch.images),
        truncated=np.int64(truncated),
    )


def unpack(bits: NDArray[np.uint8], thresholds: int) -> Flags:
    """Packed bits (N, ranges, bytes) as (ranges * thresholds, N)."""
    flags = np.unpackbits(bits, axis=2, count=thresholds)
    return np.ascontiguousarray(flags.reshape(len(bits), bits.shape[1] * thresholds).T).view(
        np.bool_
    )


def _pack(flags: Flags) -> NDArray[np.uint8]:
    return np.packbits(np.moveaxis(flags, 2, 0), axis=2)


def _keys(columns: Columns, batch: ImageBatch) -> Indices:
    """A number for each image and class, in order of images, then classes."""
    return np.asarray(columns.images * len(batch.classes) + columns.labels)


def _rank_detections(detections: DetectionColumns, keys: Indices, criteria: Criteria) -> Indices:
    ties = detections.positions.T[::-1] if criteria.ties == "geometry" else ()
    return np.lexsort((*ties, -detections.scores, keys))


def _order_objects(objects: ObjectColumns, keys: Indices, criteria: Criteria) -> Indices:
    if criteria.ties == "given":
        return np.argsort(keys, kind="stable")
    return np.lexsort((objects.areas, *objects.positions.T[::-1], keys))


def _below_cap(keys: Indices, cap: int | None) -> Flags:
    places = np.arange(len(keys)) - np.searchsorted(keys, keys, "left")
    return places < (len(keys) if cap is None else cap)
