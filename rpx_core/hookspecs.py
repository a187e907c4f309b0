"""The hooks that plugins implement; each docstring is the contract.

Arguments are only ever added, never removed without one minor release of warnings; an
implementation declares only those that it wants. All collecting hooks run in the parent
process, once per command that needs names, and must return specs without importing a model
library. If a hook raises, returns something else than specs, or offers a name twice, that
plugin alone is disabled and `rpx doctor` shows why.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

from rpx_core.specs import (
    AdapterSpec,
    DatasetSpec,
    MetricSpec,
    ModelSpec,
    ProtocolSpec,
    ReporterSpec,
    TaskSpec,
)

if TYPE_CHECKING:
    from rpx_core.report import Report, Row, RunRecord

hookspec = pluggy.HookspecMarker("rpx")
hookimpl = pluggy.HookimplMarker("rpx")


@hookspec
def rpx_tasks() -> Iterable[TaskSpec]:  # type: ignore[empty-body]  # pluggy never calls a spec
    """Offer tasks by name.

    Called when a command needs task names. A task owns its sample types, loader, default
    metrics and baseline; installing it never changes what another task computes.
    """


@hookspec
def rpx_metrics() -> Iterable[MetricSpec]:  # type: ignore[empty-body]  # see rpx_tasks
    """Offer metrics by name.

    Called when a command needs metric names. A metric runs when a task of its own distribution
    lists it or when the configuration names it, never because it is installed.
    """


@hookspec
def rpx_adapters() -> Iterable[AdapterSpec]:  # type: ignore[empty-body]  # see rpx_tasks
    """Offer adapters, which wrap a bare callable into a model.

    Called when a command needs adapter names. Adapters see samples without ground truth.
    """


@hookspec
def rpx_models() -> Iterable[ModelSpec]:  # type: ignore[empty-body]  # see rpx_tasks
    """Offer models by name.

    Called when a command needs model names. Return specs; do not import the model library: the
    target is imported in the worker that runs the model.
    """


@hookspec
def rpx_datasets() -> Iterable[DatasetSpec]:  # type: ignore[empty-body]  # see rpx_tasks
    """Offer datasets and folder layouts by name.

    Called when a command needs dataset names. The target is imported in the parent, which reads
    the manifest; workers receive records.
    """


@hookspec
def rpx_protocols() -> Iterable[ProtocolSpec]:  # type: ignore[empty-body]  # see rpx_tasks
    """Offer versioned protocols, TOML resources of the distribution that owns the metrics.

    Called when a command needs protocol names. A published protocol never changes; a new
    version gets a new name.
    """


@hookspec
def rpx_reporters() -> Iterable[ReporterSpec]:  # type: ignore[empty-body]  # see rpx_tasks
    """Offer report formats by name.

    Called when a command writes or lists reports. A reporter renders finished numbers; it
    cannot change them.
    """


@hookspec
def rpx_run_started(record: RunRecord) -> None:
    """Observe that a run starts or resumes.

    Called once in the parent process before the first sample. `record` is frozen. If it raises,
    the run continues and the failure is reported on stderr once.
    """


@hookspec
def rpx_sample_scored(record: RunRecord, row: Row) -> None:
    """Observe one committed sample.

    Called in the parent process for each new row after its sequence is committed, in no
    promised order; rows of a resumed run are not repeated. Arguments are frozen. If it raises,
    this hook is not called again in this run and the failure is reported on stderr once.
    """


@hookspec
def rpx_run_finished(record: RunRecord, report: Report) -> None:
    """Observe the finished report.

    Called once in the parent process after the reports are written. Arguments are frozen. If it
    raises, the exit code does not change and the failure is reported on stderr once.
    """
