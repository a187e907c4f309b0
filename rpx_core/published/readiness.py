"""The published readiness scores, with their published signatures and meaning.

These are the rules `rpx-1` down to their sentinels. The trap: a missing phase
counts as 0, the best possible error or the worst possible accuracy; a missing difficulty changes
the weights of the others; differences are not oriented, so for an error a negative one is good.
A run reports null instead, and says better or worse: see `rpx_core.readiness.scores`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.coherence.edges import f_score, thicken_edges
from rpx_core.contracts import Difficulty, Phase
from rpx_core.errors import MetricError
from rpx_core.published.stability import score_labels, score_neighbours
from rpx_core.readiness.averages import ESD_WEIGHTS

__all__ = [
    "ESDResult",
    "StackGeometricCoherenceResult",
    "StateTransitionRobustnessResult",
    "TemporalStabilityResult",
    "WeightedPhaseScore",
    "compute_esd",
    "compute_sgc",
    "compute_str",
    "compute_temporal_stability_seg",
    "compute_weighted_phase_score",
]

Key = TypeVar("Key", Difficulty, Phase)


@dataclass(frozen=True)
class ESDResult:
    """Mean of a metric over the rows of each difficulty; None where there are no rows."""

    easy: float | None
    medium: float | None
    hard: float | None
    metric_key: str

    def weighted_score(self) -> float:
        """Sum of w·m over sum of w, over the difficulties that have rows; 0.0 if none has.

        w = 0.25, 0.35, 0.40. The trap: 0.0 is the best possible error, and two results that
        lack different difficulties are not comparable.
        """
        means = (self.easy, self.medium, self.hard)
        present = [
            (ESD_WEIGHTS[difficulty], mean)
            for difficulty, mean in zip(Difficulty, means, strict=True)
            if mean is not None
        ]
        if not present:
            return 0.0
        weight = math.fsum(weight for weight, _ in present)
        return math.fsum(weight * mean for weight, mean in present) / weight


@dataclass(frozen=True)
class WeightedPhaseScore:
    """The weighted ESD score in each phase: S_p = `weighted_score()` of its rows.

    The trap: a phase without rows scores 0.0, in `s_overall` and in the differences too.
    """

    clutter: ESDResult
    interaction: ESDResult
    clean: ESDResult

    @property
    def s_clutter(self) -> float:
        """S_C."""
        return self.clutter.weighted_score()

    @property
    def s_interaction(self) -> float:
        """S_I."""
        return self.interaction.weighted_score()

    @property
    def s_clean(self) -> float:
        """S_L."""
        return self.clean.weighted_score()

    @property
    def s_overall(self) -> float:
        """(S_C + S_I + S_L) / 3."""
        return math.fsum((self.s_clutter, self.s_interaction, self.s_clean)) / 3

    @property
    def delta_int(self) -> float:
        """S_I − S_C; positive is worse for an error, better for an accuracy."""
        return self.s_interaction - self.s_clutter

    @property
    def delta_rec(self) -> float:
        """S_L − S_I; positive is worse for an error, better for an accuracy."""
        return self.s_clean - self.s_interaction


@dataclass(frozen=True)
class StateTransitionRobustnessResult:
    """Changes of a score from clutter to interaction to clean, and the scores themselves."""

    str_c_to_i: float
    str_i_to_l: float
    metric_clutter: float
    metric_interaction: float
    metric_clean: float


@dataclass(frozen=True)
class TemporalStabilityResult:
    """Mean temporal stability of pairs of frames, the number of pairs, and each of them."""

    ts_score: float
    num_pairs: int
    per_pair: Sequence[float]


@dataclass(frozen=True)
class StackGeometricCoherenceResult:
    """Agreement of mask outlines with depth jumps: F1 of the mean precision and mean recall."""

    sgc_score: float
    precision: float
    recall: float
    num_samples: int


def compute_esd(
    rows: Sequence[Mapping[str, Any]],
    difficulties: Sequence[Difficulty | None],
    metric_key: str,
) -> ESDResult:
    """Mean of `row[metric_key]` over the rows of each difficulty.

    `difficulties` gives that of each row; rows without one, or without a value, are left out.
    Raises MetricError for values that are not finite numbers and for unequal lengths.
    """
    _check_lengths(rows, difficulties=difficulties)
    values: dict[Difficulty, list[float]] = {difficulty: [] for difficulty in Difficulty}
    for number, (row, difficulty) in enumerate(zip(rows, difficulties, strict=True)):
        if difficulty is not None and row.get(metric_key) is not None:
            value = _finite(row[metric_key], f"row {number}: {metric_key}")
            values[_member(Difficulty, difficulty, f"row {number}")].append(value)
    easy, medium, hard = (
        math.fsum(found) / len(found) if found else None for found in values.values()
    )
    return ESDResult(easy, medium, hard, metric_key)


def compute_weighted_phase_score(
    rows: Sequence[Mapping[str, Any]],
    phases: Sequence[Phase | None],
    difficulties: Sequence[Difficulty | None],
    metric_key: str,
) -> WeightedPhaseScore:
    """`compute_esd` over the rows of each phase; rows without a phase are left out."""
    _check_lengths(rows, phases=phases, difficulties=difficulties)
    chosen: dict[Phase, list[int]] = {phase: [] for phase in Phase}
    for number, phase in enumerate(phases):
        if phase is not None:
            chosen[_member(Phase, phase, f"row {number}")].append(number)
    return WeightedPhaseScore(
        *(
            compute_esd([rows[i] for i in found], [difficulties[i] for i in found], metric_key)
            for found in chosen.values()
        )
    )


def compute_str(scores: Mapping[Phase, float]) -> StateTransitionRobustnessResult:
    """Score in interaction minus clutter, and in clean minus interaction.

    The trap: a phase that is missing counts as 0.0, and the sign alone does not say which change
    is for the better.
    """
    values = dict.fromkeys(Phase, 0.0)
    for name, score in scores.items():
        phase = _member(Phase, name, "scores")
        values[phase] = _finite(score, f"score of {phase}")
    clutter, interaction, clean = values.values()
    return StateTransitionRobustnessResult(
        str_c_to_i=interaction - clutter,
        str_i_to_l=clean - interaction,
        metric_clutter=clutter,
        metric_interaction=interaction,
        metric_clean=clean,
    )


def compute_temporal_stability_seg(
    masks: Sequence[NDArray[Any]], poses: Sequence[NDArray[np.float64] | None]
) -> TemporalStabilityResult:
    """The published temporal stability of label maps in order, by `score_labels`.

    Poses are camera-to-world in the T265 axes of the published loader (y up); None leaves a pair
    unturned. The trap: fewer than two masks score 1.0 over no pairs, a pair without labels 1.0 too.
    """
    found = score_neighbours(masks, poses, score_labels)
    scores = [1.0 if score is None else score for score in found]
    mean = math.fsum(scores) / len(scores) if scores else 1.0
    return TemporalStabilityResult(ts_score=mean, num_pairs=len(scores), per_pair=scores)


def compute_sgc(
    masks: Sequence[NDArray[Any]],
    depths: Sequence[NDArray[Any]],
    depth_gradient_threshold: float = 0.1,
    boundary_dilation: int = 2,
) -> StackGeometricCoherenceResult:
    """The published stack geometric coherence of label maps and depth maps, pairs of (H, W).

    The threshold is in metres per pixel. See `rpx_core.coherence.metrics.PublishedCoherence` for
    the formula. The trap: precision or recall is 1.0 where a map has no edge, so that flat depth
    has perfect recall; without samples everything is 0.0.
    """
    if len(masks) != len(depths):
        raise MetricError(f"{len(depths)} depth maps for {len(masks)} masks; one each was expected")
    shares = []
    for labels, depth in zip(masks, depths, strict=True):
        edges = thicken_edges(labels, depth, depth_gradient_threshold, boundary_dilation)
        shares.append([1.0 if x is None else x for x in (edges.precision, edges.recall)])
    if not shares:
        return StackGeometricCoherenceResult(0.0, 0.0, 0.0, 0)
    precision, recall = (math.fsum(side) / len(side) for side in zip(*shares, strict=True))
    return StackGeometricCoherenceResult(f_score(precision, recall), precision, recall, len(shares))


def _check_lengths(rows: Sequence[object], **others: Sequence[object]) -> None:
    for name, values in others.items():
        if len(values) != len(rows):
            raise MetricError(
                f"{len(values)} {name} for {len(rows)} rows", hint="give one for each row, or None"
            )


def _finite(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise MetricError(f"{what} is {value!r}; a number was expected") from error
    if not math.isfinite(number):
        raise MetricError(
            f"{what} is {number}; it would spoil every mean",
            hint="leave the key out of rows where it is undefined",
        )
    return number


def _member(kind: type[Key], value: str, where: str) -> Key:
    try:
        return kind(value)
    except ValueError as error:
        raise MetricError(
            f"{where}: {value!r} is no {kind.__name__.lower()}",
            hint=f"expected one of {', '.join(kind)}",
        ) from error
