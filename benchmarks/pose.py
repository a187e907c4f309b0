"""How long the pose metrics take on 100,000 pairs, against the usual loop over pairs.

    python benchmarks/pose.py [--pairs 100000] [--repeat 3]

Times rotation, direction and translation errors with all pose AUCs and mAA, from arrays to
numbers: rpx_pose on all pairs at once, and the loop of evaluation scripts (an arccos of the trace,
one pair at a time, then the trapezoid over sorted errors). Matching is timed on one pair of images
with 5,000 true points and 20,000 predicted matches, against the full matrix of distances in chunks.
All run in this process on one BLAS thread, taking turns. Prints medians, ratios and the largest
disagreement; fails where it exceeds the 1e-5 degrees that the arccos loses, and where 100,000
pairs take a second.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

# Read by OpenBLAS when numpy is first imported, hence before it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray
from timing import compare, largest, make_parser, require_agreement, time_in_turns

from rpx_pose.auc import auc_exact, auc_grid, auc_trapezoid, mean_average_accuracy
from rpx_pose.matching import TrueMatches, judge_matches
from rpx_pose.relative_errors import RelativePoses, measure_pose_errors
from rpx_pose.rotations import rotations_from_quaternions

Floats = NDArray[np.float64]
Values = Sequence[float]

TOLERANCE = 1e-5
MOST_MS_PER_PAIR = 1000 / 100_000
LIMITS = (5, 10, 20)


def make_poses(count: int) -> tuple[RelativePoses, RelativePoses]:
    rng = np.random.default_rng(0)
    quaternions = rng.normal(size=(count, 4))
    translations = rng.normal(size=(count, 3))
    noise = np.column_stack([rng.normal(0, 0.05, (count, 3)), np.ones(count)])
    rotations = rotations_from_quaternions(quaternions, order="xyzw")
    predicted = rotations @ rotations_from_quaternions(noise, order="xyzw")
    return (
        RelativePoses(rotations, translations),
        RelativePoses(predicted, translations + rng.normal(0, 0.2, (count, 3))),
    )


def ours(truth: RelativePoses, prediction: RelativePoses) -> Values:
    errors = measure_pose_errors(truth, prediction)
    worst = errors.max_deg("signed")
    areas = [
        area(worst, limit) for area in (auc_trapezoid, auc_exact, auc_grid) for limit in LIMITS
    ]
    accuracy = mean_average_accuracy(worst, 10)
    means = [float(errors.rotation_deg.mean()), float(errors.translation_m.mean())]
    return [*means, accuracy or 0.0, *(area or 0.0 for area in areas[:3])]


def loop(truth: RelativePoses, prediction: RelativePoses) -> Values:
    """What evaluation scripts do, pair by pair."""
    rotations, distances, worst = [], [], []
    for k in range(len(truth.rotations)):
        relative = prediction.rotations[k].T @ truth.rotations[k]
        cosine = np.clip((np.trace(relative) - 1) / 2, -1, 1)
        angle = np.degrees(np.arccos(cosine))
        t, g = prediction.translations[k], truth.translations[k]
        along = np.clip(t @ g / (np.linalg.norm(t) * np.linalg.norm(g)), -1, 1)
        rotations.append(angle)
        distances.append(np.linalg.norm(t - g))
        worst.append(max(angle, np.degrees(np.arccos(along))))
    errors = np.sort(worst)
    recall = np.arange(1, len(errors) + 1) / len(errors)
    areas = []
    for limit in LIMITS:
        last = np.searchsorted(errors, limit)
        heights = np.concatenate([[0], recall[:last], [recall[last - 1]]])
        places = np.concatenate([[0], errors[:last], [limit]])
        areas.append(float(((heights[1:] + heights[:-1]) / 2 * np.diff(places)).sum() / limit))
    accuracy = float(np.mean([(errors <= limit).mean() for limit in range(1, 11)]))
    return [float(np.mean(rotations)), float(np.mean(distances)), accuracy, *areas]


def make_matches(points: int, matches: int) -> tuple[TrueMatches, Floats, Floats]:
    rng = np.random.default_rng(1)
    starts = rng.uniform((0, 0), (1919, 1079), (points, 2))
    truth = TrueMatches(starts, starts + 12.5, rng.random(points) > 0.2)
    p0 = rng.uniform((0, 0), (1919, 1079), (matches, 2))
    return truth, p0, p0 + 12.5 + rng.normal(0, 2, (matches, 2))


def our_matching(truth: TrueMatches, p0: Floats, p1: Floats) -> Values:
    found = judge_matches(truth, p0, p1, gate=3.0)
    return [float(found.is_judged.sum()), float((found.errors[found.is_judged] <= 3).mean())]


def full_matching(truth: TrueMatches, p0: Floats, p1: Floats) -> Values:
    """The nearest true point of each match by all distances, 1,000 matches at a time."""
    judged, right = 0, 0
    for start in range(0, len(p0), 1000):
        block0, block1 = p0[start : start + 1000], p1[start : start + 1000]
        distances = np.linalg.norm(block0[:, None] - truth.points0[None], axis=-1)
        nearest = distances.argmin(axis=1)
        near = distances[np.arange(len(block0)), nearest] <= 3.0
        shift = block1 - block0 - (truth.points1 - truth.points0)[nearest]
        good = (np.linalg.norm(shift, axis=1) <= 3) & truth.visible[nearest]
        judged += int(near.sum())
        right += int((near & good).sum())
    return [float(judged), right / judged]


def main() -> None:
    parser = make_parser(__doc__, repeat=3)
    parser.add_argument("--pairs", type=int, default=100_000)
    options = parser.parse_args()
    poses = make_poses(options.pairs)
    matches = make_matches(5_000, 20_000)
    cases: dict[str, dict[str, Callable[[], Values]]] = {
        f"errors and areas of {options.pairs} pairs": {
            "rpx_pose": lambda: ours(*poses),
            "loop": lambda: loop(*poses),
        },
        "20000 matches against 5000 points": {
            "rpx_pose": lambda: our_matching(*matches),
            "all distances": lambda: full_matching(*matches),
        },
    }
    ours_ms = []
    for title, work in cases.items():
        print(title)
        found = time_in_turns(work, options.repeat)
        ours_ms.append(found["rpx_pose"].milliseconds)
        require_agreement(compare(found, "rpx_pose", largest), TOLERANCE)
    if not ours_ms[0] <= MOST_MS_PER_PAIR * options.pairs:
        sys.exit(
            f"{options.pairs} pairs took {ours_ms[0]:.1f} ms; {MOST_MS_PER_PAIR} ms each were "
            "promised"
        )


if __name__ == "__main__":
    main()
