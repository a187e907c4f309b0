"""What the published functions return: a result, and how ready a model is to be deployed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rpx_core.contracts import Difficulty, Phase, TaskType, Unit
from rpx_core.published.evidence import Aggregated
from rpx_core.published.readiness import (
    ESDResult,
    StackGeometricCoherenceResult,
    StateTransitionRobustnessResult,
    TemporalStabilityResult,
    WeightedPhaseScore,
)
from rpx_core.published.tables import format_result, format_scores, format_warnings
from rpx_core.report import Number, Readiness, Row
from rpx_core.results import STABILITY_OUTPUT, find_stability


class Efficiency(Protocol):
    """What a model costs; None where it is not known. `EfficiencyMetadata` is one."""

    @property
    def params_m(self) -> float | None:
        """Millions of parameters."""
        ...

    @property
    def flops_g(self) -> float | None:
        """Billions of floating-point operations per sample."""
        ...

    @property
    def actmem_gb_fp16(self) -> float | None:
        """Gigabytes of activations in half precision."""
        ...

    @property
    def latency_ms_per_sample(self) -> float | None:
        """Milliseconds per sample."""
        ...


@dataclass(frozen=True)
class BenchmarkResult:
    """The numbers of an evaluation: of each sample, and over all of them.

    `per_sample` are mappings with `id`, `scene`, `phase`, `difficulty` and a number per key, None
    where it is undefined. `aggregated` has the headline value per key. Results of this package
    hold `MetricRow`s, and an `Aggregated`, whose `numbers` count what was undefined.
    `print(result)` shows a table.

    `warnings` say why the numbers should be doubted, as reports of `rpx run` do: one that is far
    outside what makes sense, most often for a wrong unit, a metric without any value, what an
    alignment or the data warns of.
    """

    task: TaskType | str
    per_sample: Sequence[Mapping[str, Any]]
    aggregated: Mapping[str, float | None]
    num_samples: int
    warnings: Sequence[str] = ()

    @property
    def numbers(self) -> Mapping[str, Number]:
        """The aggregated numbers with their counts and units; empty where nobody kept them."""
        return self.aggregated.numbers if isinstance(self.aggregated, Aggregated) else {}

    def __str__(self) -> str:
        table = format_result(self.task, self.num_samples, self.aggregated, self.numbers)
        return "\n".join([table, *format_warnings(self.warnings)])


@dataclass(frozen=True)
class DeploymentReadinessReport:
    """How a model holds up across phases and difficulties, from frame to frame, and its cost.

    The scores are those of the rules `rpx-2`: scenes count equally, and a score of which a part is
    missing is None, never 0. `readiness` has every score, also the defined parts of an undefined
    whole, with its coverage, its direction and the reason why it is None. The mean of each phase
    and difficulty is in `weighted_phase_score`, the changes between phases, paired within scenes,
    in `state_transition`. `geometric_coherence` compares masks with the depth of their samples;
    `rpx stack` compares the predictions of two models.
    """

    task: TaskType | str
    model_name: str
    weighted_phase_score: WeightedPhaseScore | None = None
    temporal_stability: TemporalStabilityResult | None = None
    state_transition: StateTransitionRobustnessResult | None = None
    geometric_coherence: StackGeometricCoherenceResult | None = None
    params_m: float | None = None
    flops_g: float | None = None
    actmem_gb_fp16: float | None = None
    latency_ms_per_sample: float | None = None
    readiness: Readiness | None = None

    def __str__(self) -> str:
        if self.readiness is None:
            return f"{self.model_name}: no readiness scores"
        return format_scores(self.model_name, self.readiness)


@dataclass(frozen=True)
class Findings:
    """What a readiness report is made of."""

    task: TaskType | str
    model_name: str
    metric_key: str
    readiness: Readiness
    stability: TemporalStabilityResult | None = None
    coherence: StackGeometricCoherenceResult | None = None
    efficiency: Efficiency | None = None


def make_report(found: Findings) -> DeploymentReadinessReport:
    """The published report."""
    cost = found.efficiency
    return DeploymentReadinessReport(
        task=found.task,
        model_name=found.model_name,
        weighted_phase_score=_phase_score(found.readiness, found.metric_key),
        temporal_stability=found.stability,
        state_transition=_transition(found.readiness),
        geometric_coherence=found.coherence,
        params_m=cost.params_m if cost else None,
        flops_g=cost.flops_g if cost else None,
        actmem_gb_fp16=cost.actmem_gb_fp16 if cost else None,
        latency_ms_per_sample=cost.latency_ms_per_sample if cost else None,
        readiness=found.readiness,
    )


def stability_of(rows: Sequence[Row], numbers: Sequence[Number]) -> TemporalStabilityResult | None:
    """Temporal stability with that of each pair, in order of their ids; None without a pair."""
    number = find_stability(numbers)
    if number is None or number.value is None:
        return None
    label, output = STABILITY_OUTPUT
    values = [
        measured.values.get(output)
        for row in rows
        if row.unit is Unit.PAIR and (measured := row.metrics.get(label)) is not None
    ]
    return TemporalStabilityResult(
        ts_score=number.value,
        num_pairs=number.n,
        per_pair=[value for value in values if value is not None],
    )


def _phase_score(readiness: Readiness, metric_key: str) -> WeightedPhaseScore | None:
    """The grid of phases and difficulties; None unless all of it is there.

    With a part missing, the published class would count it as 0.
    """
    means = {(cell.phase, cell.difficulty): cell.value for cell in readiness.grid}
    if not means or any(value is None for value in means.values()):
        return None
    clutter, interaction, clean = (
        ESDResult(
            easy=means[phase, Difficulty.EASY],
            medium=means[phase, Difficulty.MEDIUM],
            hard=means[phase, Difficulty.HARD],
            metric_key=metric_key,
        )
        for phase in Phase
    )
    return WeightedPhaseScore(clutter, interaction, clean)


def _transition(readiness: Readiness) -> StateTransitionRobustnessResult | None:
    """Changes between phases and the phases' scores; None unless all of them are defined."""
    values = {score.name: score.value for score in readiness.scores}
    names = ("str_c_to_i", "str_i_to_l", "s_clutter", "s_interaction", "s_clean")
    found = [value for name in names if (value := values.get(name)) is not None]
    return StateTransitionRobustnessResult(*found) if len(found) == len(names) else None
