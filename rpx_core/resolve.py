"""Finding and building the parts of a run: task, metrics, model, protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rpx_core.config import Named, RunConfig
from rpx_core.contracts import Metric, Task
from rpx_core.errors import ConfigError, PluginError
from rpx_core.host import Host
from rpx_core.models import ModelPart, check_task, require_extra, resolve_model
from rpx_core.offers import Offer
from rpx_core.parts import Part, resolve_part
from rpx_core.protocols import Protocol
from rpx_core.specs import TaskSpec

STABILITY = "stability"
"""Label of the pair metric behind the temporal stability score; its output is `ts`."""


@dataclass(frozen=True)
class Resolved:
    """The parts of one run: as data for workers, and built for planning and folding."""

    offer: Offer[TaskSpec]
    task_part: Part
    task: Task[Any, Any]
    metric_parts: Mapping[str, Part]
    metrics: Mapping[str, Metric]
    model: ModelPart
    protocol: Protocol | None

    @property
    def primary(self) -> tuple[str, str]:
        """Label and output of the headline number."""
        return _primary(self.offer, self.metrics)


def resolve(
    config: RunConfig, host: Host, *, protocol: Protocol | None, model: ModelPart | None
) -> Resolved:
    """Find everything that a configuration names; raises ConfigError for what is not there.

    `model` replaces the one that the configuration names.
    """
    if config.task is None:
        raise ConfigError("no task is named", hint="--task, as in `rpx list tasks`")
    offer: Offer[TaskSpec] = host.find("task", config.task)
    task_part = resolve_part(offer, config.options, field_name="options")
    parts = _metric_parts(host, offer, config)
    model = model or resolve_model(host, offer, config.model, config.adapter)
    _check_alignment(offer, config)
    metrics: dict[str, Metric] = {label: part.build() for label, part in parts.items()}
    return Resolved(offer, task_part, task_part.build(), parts, metrics, model, protocol)


def _metric_parts(host: Host, task: Offer[TaskSpec], config: RunConfig) -> dict[str, Part]:
    spec = task.spec
    if config.metrics is None:
        uses = {label: Named(name=name) for label, name in spec.metrics.items()}
        if config.readiness in spec.stability:
            uses[STABILITY] = Named(name=spec.stability[config.readiness])
    else:
        uses = config.metrics
    parts = {}
    for label, use in uses.items():
        offer = host.find("metric", use.name, task=spec.name, prefer=task.distribution)
        if offer.spec.combines:
            raise ConfigError(
                f"metrics.{label}: {offer.full_name} combines runs of several tasks",
                hint="save predictions in each run, then `rpx stack` measures them together",
            )
        check_task(f"metric {offer.full_name}", offer.spec.tasks, spec.name)
        require_extra(offer)
        parts[label] = resolve_part(offer, use.options, field_name=f"metrics.{label}.options")
    return parts


def _check_alignment(task: Offer[TaskSpec], config: RunConfig) -> None:
    if config.align.method not in task.spec.alignments:
        raise ConfigError(
            f"align: {task.full_name} does not know {config.align.method!r}",
            hint=f"it knows {', '.join(task.spec.alignments)}",
        )


def _primary(task: Offer[TaskSpec], metrics: Mapping[str, Metric]) -> tuple[str, str]:
    """Label and output of the headline: the task's own, else that of the first label.

    The first by name: labels have no order in the identity of a run.
    """
    label, _, output = task.spec.primary.partition(".")
    if label in metrics and output in metrics[label].outputs:
        return label, output
    if label in metrics:
        raise PluginError(
            f"{task.full_name}: primary {task.spec.primary!r} is no output of its metric; "
            f"outputs: {', '.join(metrics[label].outputs)}"
        )
    first = min(metrics)
    return first, next(iter(metrics[first].outputs))
