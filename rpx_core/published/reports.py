"""The published reports: a Markdown summary and a JSON document of one evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from rpx_core.atomic import write_atomic
from rpx_core.contracts import TaskType
from rpx_core.documents import write_json as write_document
from rpx_core.errors import ConfigError
from rpx_core.published.readiness import WeightedPhaseScore
from rpx_core.published.results import BenchmarkResult, DeploymentReadinessReport
from rpx_core.published.summaries import ReportFacts, format_summary

_PHASE_SCORES = ("s_clutter", "s_interaction", "s_clean", "s_overall", "delta_int", "delta_rec")


def format_markdown_summary(
    *,
    task: TaskType | str,
    model_name: str,
    split: str,
    repo_id: str,
    result: BenchmarkResult,
    dr_report: DeploymentReadinessReport | None = None,
) -> str:
    """A summary for a page or a pull request: what was run, its numbers, its readiness, its cost.

    Names are escaped, so that none of them can be taken for markup.
    """
    return format_summary(ReportFacts(task, model_name, split, repo_id), result, dr_report)


def write_json(
    path: str | Path,
    *,
    task: TaskType | str,
    model_name: str,
    split: str,
    repo_id: str,
    result: BenchmarkResult,
    dr_report: DeploymentReadinessReport | None = None,
    extra: Mapping[str, Any] | None = None,
) -> Path:
    """Write everything as one strict JSON document, whole or not at all; returns where it is.

    A number that is NaN or infinite is null. `extra` may hold numbers, text, lists, mappings,
    arrays, dataclasses and paths; raises ConfigError naming what cannot be written, JournalError
    where the file cannot be.
    """
    facts = ReportFacts(task, model_name, split, repo_id)
    target = Path(path)
    write_document(target, _document(facts, result, dr_report, extra))
    return target


def write_reports(
    directory: Path,
    facts: ReportFacts,
    result: BenchmarkResult,
    report: DeploymentReadinessReport,
) -> dict[str, Path]:
    """Both in a folder, as `benchmark.json` and `benchmark.md`."""
    paths = {"json": directory / "benchmark.json", "markdown": directory / "benchmark.md"}
    write_document(paths["json"], _document(facts, result, report, None))
    write_atomic(paths["markdown"], format_summary(facts, result, report).encode())
    return paths


def _document(
    facts: ReportFacts,
    result: BenchmarkResult,
    report: DeploymentReadinessReport | None,
    extra: Mapping[str, Any] | None,
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "task": facts.task,
        "model": facts.model_name,
        "split": facts.split,
        "repo_id": facts.repo_id,
        "num_samples": result.num_samples,
        "aggregated": result.aggregated,
        "per_sample": result.per_sample,
        "warnings": result.warnings,
    }
    if facts.ran_on:
        document["ran_on"] = list(facts.ran_on)
    if result.numbers:
        document["numbers"] = result.numbers
    if report is not None:
        document["deployment_readiness"] = report
    if extra is not None:
        document["extra"] = extra
    try:
        return {key: _strict(value, key) for key, value in document.items()}
    except RecursionError as error:
        raise ConfigError(
            "what is to be written holds itself, or is nested beyond what JSON readers take",
            hint="pass a flat copy as `extra`: numbers, text, lists or mappings",
        ) from error


def _strict(value: Any, where: str) -> Any:
    """A value as strict JSON holds it."""
    plain = _plain(value)
    match plain:
        case None | bool() | int() | str():
            return plain
        case float():
            return plain if math.isfinite(plain) else None
        case Mapping():
            return {str(key): _strict(part, f"{where}.{key}") for key, part in plain.items()}
        case Sequence() if not isinstance(plain, bytes | bytearray | memoryview):
            return [_strict(part, f"{where}[{number}]") for number, part in enumerate(plain)]
    raise ConfigError(
        f"{where} is a {type(value).__name__}, which JSON cannot hold",
        hint="pass numbers, text, lists or mappings",
    )


def _plain(value: Any) -> Any:
    """What stands in JSON for an enum member, an array, a model, a dataclass or a path."""
    match value:
        case Enum():
            return value.value
        case np.ndarray() | np.generic():
            return value.tolist()
        case BaseModel():
            return value.model_dump(mode="json")
        case PathLike():
            return fspath(value)
    return _members(value) if is_dataclass(value) and not isinstance(value, type) else value


def _members(value: Any) -> dict[str, Any]:
    """The fields of a dataclass; of a phase score also what follows from them."""
    members = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, WeightedPhaseScore):
        members |= {name: getattr(value, name) for name in _PHASE_SCORES}
    return members
