"""Who is taken for whom: objects and detections paired by place alone, whatever their labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_core.ranking.criteria import reaches
from rpx_core.ranking.matching import Flags, Floats, Indices
from rpx_detection.boxes import areas_of, intersections, pairwise_iou
from rpx_detection.evidence import annotated_detections, as_text, ignored_objects
from rpx_detection.types import DetectionGroundTruth, DetectionPrediction


@dataclass(frozen=True, eq=False)
class Pairing:
    """Labels of the objects that count, and of the detections that say something about them.

    `partners` gives for each object the place of its detection here, or -1. `object_rows` and
    `detection_rows` say where each stands in the truth and in the prediction.
    """

    objects: NDArray[np.str_]
    detections: NDArray[np.str_]
    partners: Indices
    object_rows: Indices
    detection_rows: Indices


def pair_by_place(
    truth: DetectionGroundTruth, prediction: DetectionPrediction, threshold: float, score: float
) -> Pairing:
    """Pair boxes one to one, from the largest overlap down to the threshold.

    Detections below the score, of classes that are not annotated, or left over on an ignored object
    or crowd, are left out. Of equal overlaps the one of equal labels comes first, then the better
    scored.
    """
    scores = np.asarray(prediction.scores, np.float64)
    answers = np.flatnonzero(annotated_detections(truth, prediction) & (scores >= score))
    answers = answers[np.argsort(-scores[answers], kind="stable")]
    found = np.asarray(prediction.boxes, np.float64).reshape(-1, 4)[answers]
    boxes = np.asarray(truth.boxes, np.float64).reshape(-1, 4)
    ignored = ignored_objects(truth)
    wanted = np.flatnonzero(~ignored)
    objects = as_text([truth.labels[row] for row in wanted.tolist()])
    called = as_text([prediction.labels[row] for row in answers.tolist()])
    overlaps = pairwise_iou(boxes[wanted], found)
    detection_of = _pair_greedily(overlaps, objects[:, None] == called[None], threshold)
    shared = intersections(boxes[ignored][:, None], found[None])
    covered = np.divide(shared, areas_of(found), out=np.zeros_like(shared), where=shared > 0).max(
        axis=0, initial=0.0
    )
    paired = np.zeros(len(answers), np.bool_)
    paired[detection_of[detection_of >= 0]] = True
    kept = paired | ~reaches(covered, threshold)
    # The last place stands for -1: no partner.
    places = np.append(np.cumsum(kept) - 1, -1)
    return Pairing(
        objects=objects,
        detections=called[kept],
        partners=places[detection_of],
        object_rows=wanted,
        detection_rows=answers[kept],
    )


def confusion_matrix(
    objects: NDArray[np.str_],
    answers: NDArray[np.str_],
    answered: Flags,
    spurious: NDArray[np.str_],
) -> tuple[list[str], NDArray[np.int64]]:
    """Class names, and how often an object of the row's class was called the column's.

    `answers` are the labels given to the objects, where `answered`. One more column counts the
    objects that are not, one more row the `spurious` detections by their label.
    """
    classes = np.unique(np.concatenate([objects, answers[answered], spurious]))
    last = len(classes)
    matrix = np.zeros((last + 1, last + 1), np.int64)
    columns = np.where(answered, np.searchsorted(classes, answers), last)
    np.add.at(matrix, (np.searchsorted(classes, objects), columns), 1)
    np.add.at(matrix[last], np.searchsorted(classes, spurious), 1)
    return [str(name) for name in classes], matrix


def _pair_greedily(overlaps: Floats, same: Flags, threshold: float) -> Indices:
    """For each row its column, or -1."""
    partner = np.full(overlaps.shape[0], -1)
    rows, columns = np.nonzero(reaches(overlaps, threshold))
    free = np.ones(overlaps.shape[1], np.bool_)
    for pair in np.lexsort((rows, columns, ~same[rows, columns], -overlaps[rows, columns])):
        row, column = rows[pair], columns[pair]
        if partner[row] < 0 and free[column]:
            partner[row], free[column] = column, False
    return partner
