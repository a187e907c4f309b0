"""From a published run configuration to a run of the engine, and back to published results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rpx_core.contracts import Unit
from rpx_core.errors import (
    DatasetError,
    ExitCode,
    IncompleteRunError,
    MetricError,
    ModelError,
    RPXError,
    TruthWithheldError,
)
from rpx_core.host import Host
from rpx_core.layers import Layers, make_plans
from rpx_core.lifecycle import Request
from rpx_core.models import ModelPart, object_model
from rpx_core.plan import Plan
from rpx_core.published.efficiency import EfficiencyMetadata
from rpx_core.published.evidence import MetricRow, aggregate_numbers, row_values
from rpx_core.published.reports import write_reports
from rpx_core.published.results import (
    BenchmarkResult,
    DeploymentReadinessReport,
    Findings,
    make_report,
    stability_of,
)
from rpx_core.published.running import Progress, check_task
from rpx_core.published.scoring import name_outputs
from rpx_core.published.summaries import ReportFacts
from rpx_core.published.task_config import TaskRunConfig, name_model
from rpx_core.published.tasks import Run
from rpx_core.report import FailedSample, Stage
from rpx_core.reporters.headline import where_it_ran
from rpx_core.run import Outcome, run

_ERRORS: dict[Stage, type[RPXError]] = {
    "load": DatasetError,
    "predict": ModelError,
    "validate": ModelError,
    "measure": MetricError,
}
"""What a failed sample is, by its stage; another stage leaves the run incomplete."""


def run_task(cfg: TaskRunConfig) -> Run:
    """Run a configuration to its end and report, as `run_monocular_depth` says."""
    host = Host.discover()
    layers = Layers(cfg.to_config().model_dump(exclude_unset=True), {}, source=type(cfg).__name__)
    (plan,) = make_plans(host, layers, Path(cfg.output_dir), _model_part(cfg))
    outcome = run(plan, host, Request(), _Told(cfg.progress) if cfg.progress else None)
    result = _result(cfg, plan, outcome)
    report = _readiness(cfg, plan, outcome)
    facts = ReportFacts(
        task=cfg.task,
        model_name=report.model_name,
        split=cfg.split or "all",
        repo_id=cfg.repo_id or outcome.report.run.data,
        ran_on=where_it_ran(outcome.report.writers),
    )
    paths = write_reports(outcome.directory / "report", facts, result, report)
    _raise_failures(outcome)
    return result, report, paths


class _Told:
    """Tells a published progress function what the engine reports."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._total = self._done = 0

    def begin(self, total: int, done: int) -> None:
        """So many samples in all, so many of them done before."""
        self._total, self._done = total, done
        self._progress(done, total, "predict")

    def advance(self, samples: int) -> None:
        """So many more are committed."""
        self._done += samples
        self._progress(self._done, self._total, "predict")


def _model_part(cfg: TaskRunConfig) -> ModelPart | None:
    model = cfg.model
    if model is None:
        return None
    check_task(model, str(cfg.task), of="the run")
    return object_model(model, name_model(model), cfg.model_version)


def _result(cfg: TaskRunConfig, plan: Plan, outcome: Outcome) -> BenchmarkResult:
    keys = name_outputs(plan.resolved)
    rows = [
        MetricRow(row_values(row, keys))
        for row in outcome.results.rows
        if row.unit is Unit.SAMPLE and row.failure is None
    ]
    aggregated = aggregate_numbers(outcome.report.numbers, keys)
    return BenchmarkResult(cfg.task, rows, aggregated, len(rows), outcome.report.warnings)


def _readiness(cfg: TaskRunConfig, plan: Plan, outcome: Outcome) -> DeploymentReadinessReport:
    cost = outcome.report.efficiency
    return make_report(
        Findings(
            task=cfg.task,
            model_name=outcome.report.run.model,
            metric_key=name_outputs(plan.resolved)[plan.resolved.primary],
            readiness=outcome.report.readiness,
            stability=stability_of(outcome.results.rows, outcome.report.numbers),
            efficiency=EfficiencyMetadata.from_profile(cost) if cost is not None else None,
        )
    )


def _raise_failures(outcome: Outcome) -> None:
    """Raise what the exit code of a command would say; nothing for a run without failures."""
    if outcome.exit_code is ExitCode.OK:
        return
    if outcome.results.problems:
        raise MetricError(outcome.results.problems[0], hint=f"the run is in {outcome.directory}")
    status, first = outcome.report.status, _worst(outcome.report.failures)
    count = f"{status.failed_samples} of {status.selected_samples} samples"
    raise _error_of(first)(
        f"{count if status.failed_samples else f'{status.failed_others} pairs or sequences'} "
        f"failed, such as {first.id}, at {first.failure.stage}: {first.failure.error}: "
        f"{first.failure.message}",
        hint=f"{first.failure.hint or 'mend it and run again: what succeeded is kept'}; "
        f"the report is in {outcome.directory / 'report'}",
        details={
            "run": str(outcome.directory),
            "failed": [one.id for one in outcome.report.failures],
        },
    )


def _worst(failures: Sequence[FailedSample]) -> FailedSample:
    """The first that reached for the ground truth, else the first."""
    return next((failed for failed in failures if _cheated(failed)), failures[0])


def _cheated(failed: FailedSample) -> bool:
    return failed.failure.error == TruthWithheldError.__name__


def _error_of(failed: FailedSample) -> type[RPXError]:
    if _cheated(failed):
        return TruthWithheldError
    return _ERRORS.get(failed.failure.stage, IncompleteRunError)
