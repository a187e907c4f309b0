"""The published summary of one evaluation as GitHub-flavoured Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rpx_core.contracts import TaskType
from rpx_core.published.results import BenchmarkResult, DeploymentReadinessReport
from rpx_core.report import Number, Readiness
from rpx_core.reporters.formatting import (
    ARROWS,
    CHANGES,
    format_count,
    format_plain,
    format_share,
    name_aggregate,
    shorten,
)
from rpx_core.reporters.markdown_text import code, escape, show_unit, show_value, table

_PHASE_SCORES = {
    "s_clutter": "S_C, clutter",
    "s_interaction": "S_I, interaction",
    "s_clean": "S_L, clean",
    "s_overall": "S, overall",
    "delta_int": "Δ interaction (S_I − S_C)",
    "delta_rec": "Δ recovery (S_L − S_I)",
}
_TRANSITIONS = {
    "str_c_to_i": "STR, clutter to interaction",
    "str_i_to_l": "STR, interaction to clean",
}
_COST = {
    "params_m": "parameters (M)",
    "flops_g": "FLOPs (G)",
    "actmem_gb_fp16": "activations, fp16 (GB)",
    "latency_ms_per_sample": "latency per sample (ms)",
}

_WARNINGS_SHOWN = 20


@dataclass(frozen=True)
class ReportFacts:
    """What was evaluated on what."""

    task: TaskType | str
    model_name: str
    split: str
    repo_id: str
    ran_on: tuple[str, ...] = ()
    """Devices and number formats, where they are known."""


def format_summary(
    facts: ReportFacts, result: BenchmarkResult, report: DeploymentReadinessReport | None
) -> str:
    """The whole summary, ending with a newline."""
    blocks = [
        f"# {code(facts.model_name)} on {code(facts.task)}",
        f"split {code(facts.split)} of {code(facts.repo_id)}, "
        f"{format_count(result.num_samples)} samples"
        + (f", on {escape(shorten('; '.join(facts.ran_on), 200))}" if facts.ran_on else ""),
        "## Aggregated metrics",
        _metrics(result),
    ]
    if result.warnings:
        blocks += ["## Warnings", _warnings(result.warnings)]
    if report is not None:
        blocks += _readiness(report)
    return "\n\n".join(blocks) + "\n"


def _metrics(result: BenchmarkResult) -> str:
    if not result.aggregated:
        return "none"
    if not result.numbers:
        rows = [[code(key), format_plain(value)] for key, value in result.aggregated.items()]
        return _table(["metric", "value"], rows)
    return _table(
        ["metric", "value", "unit", "better", "n", "undefined", "aggregate"],
        [[code(key), *_columns(number)] for key, number in result.numbers.items()],
    )


def _warnings(warnings: Sequence[str]) -> str:
    lines = [f"- {escape(shorten(warning, 400))}" for warning in warnings[:_WARNINGS_SHOWN]]
    more = len(warnings) - len(lines)
    return "\n".join([*lines, *([f"- and {format_count(more)} more"] if more else [])])


def _columns(number: Number) -> list[str]:
    return [
        show_value(number.value, number.reason),
        show_unit(number.unit),
        ARROWS[number.better],
        format_count(number.n),
        format_count(number.undefined + number.failed),
        escape(name_aggregate(number)),
    ]


def _readiness(report: DeploymentReadinessReport) -> list[str]:
    return [
        "## Weighted Phase Score",
        _phase_scores(report),
        "## State-Transition Robustness",
        _transitions(report),
        "## Temporal Stability",
        _stability(report),
        "## Stack Geometric Coherence",
        _coherence(report),
        "## Efficiency",
        _table(
            ["cost", "value"],
            [[title, format_plain(getattr(report, name))] for name, title in _COST.items()],
        ),
    ]


def _phase_scores(report: DeploymentReadinessReport) -> str:
    score = report.weighted_phase_score
    if report.readiness is not None:
        return _scores(report.readiness, _PHASE_SCORES)
    if score is None:
        return "not computed"
    rows = [[title, f"{getattr(score, name):.4f}"] for name, title in _PHASE_SCORES.items()]
    return _table(["score", "value"], rows)


def _transitions(report: DeploymentReadinessReport) -> str:
    found = report.state_transition
    if report.readiness is not None:
        return _scores(report.readiness, _TRANSITIONS)
    if found is None:
        return "not computed"
    rows = [[title, f"{getattr(found, name):.4f}"] for name, title in _TRANSITIONS.items()]
    return _table(["score", "value"], rows)


def _scores(readiness: Readiness, titles: dict[str, str]) -> str:
    rows = [
        [
            titles[score.name],
            show_value(score.value, score.reason),
            CHANGES[score.change] if score.change else ARROWS[score.better],
            format_share(score.coverage),
        ]
        for score in readiness.scores
        if score.name in titles
    ]
    address = f"{code(readiness.address)} by the rules {code(readiness.rules)}"
    return f"{address}\n\n{_table(['score', 'value', 'better', 'coverage'], rows)}"


def _stability(report: DeploymentReadinessReport) -> str:
    found = report.temporal_stability
    if found is None:
        reasons = [
            score.reason
            for score in (report.readiness.scores if report.readiness else ())
            if score.name == "ts" and score.reason
        ]
        return f"n/a ({escape(reasons[0])})" if reasons else "not computed"
    return f"TS = {format_plain(found.ts_score)} over {format_count(found.num_pairs)} pairs"


def _coherence(report: DeploymentReadinessReport) -> str:
    found = report.geometric_coherence
    if found is None:
        return "not computed"
    return (
        f"SGC = {format_plain(found.sgc_score)} (precision {format_plain(found.precision)}, recall "
        f"{format_plain(found.recall)}) over {format_count(found.num_samples)} samples"
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return table(header, rows, right=range(1, len(header)))
