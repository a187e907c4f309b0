"""Finding and building the parts of a run: task, metrics, model, protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rpx_core.config import Named, RunConfig
from rpx_core.contracts import Metric, Task
from rpx_core.errors import ConfigError, PluginError, first_few
from rpx_core.extras import require_extra
from rpx_core.host import Host
from rpx_core.measure import build_metric
from rpx_core.models import ModelPart, check_task, resolve_model
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
    primary: tuple[str, str]
    """Label and output of the headline number."""


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
    metrics = {label: build_metric(part) for label, part in parts.items()}
    primary = (
        _named_primary(config.primary, metrics)
        if config.primary is not None
        else _default_primary(offer, parts, metrics)
    )
    return Resolved(offer, task_part, task_part.build(), parts, metrics, model, protocol, primary)


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


def _named_primary(address: str, metrics: Mapping[str, Metric]) -> tuple[str, str]:
    label, _, output = address.partition(".")
    if label not in metrics or output not in metrics[label].outputs:
        known = [f"{name}.{one}" for name, metric in metrics.items() for one in metric.outputs]
        raise ConfigError(
            f"primary: no metric of this run has the output {address!r}",
            hint=f"one of {first_few(known, 20)}",
        )
    return label, output


def _default_primary(
    task: Offer[TaskSpec], parts: Mapping[str, Part], metrics: Mapping[str, Metric]
) -> tuple[str, str]:
    """Label and output of the headline: the task's own, under whatever label its metric runs.

    Where that does not run, the first output that has a better end, of the first label by name:
    labels have no order in the identity of a run.
    """
    own, _, output = task.spec.primary.partition(".")
    metric = f"{task.distribution}/{task.spec.metrics[own].rpartition('/')[2]}"
    for label in sorted(parts, key=lambda label: (label != own, label)):
        if parts[label].name == metric:
            if output in metrics[label].outputs:
                return label, output
            raise PluginError(
                f"{task.full_name}: primary {task.spec.primary!r} is no output of its metric; "
                f"outputs: {', '.join(metrics[label].outputs)}"
            )
    every = [
        (output.better is None, label, name)
        for label in sorted(metrics)
        for name, output in metrics[label].outputs.items()
    ]
    if not every:
        raise PluginError(
            f"{', '.join(parts[label].name for label in parts)}: no output is declared"
        )
    _, label, name = min(every, key=lambda found: found[0])
    return label, name
