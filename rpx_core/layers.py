"""From the layers of settings to plans: what `rpx run` and `rpx score` share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rpx_core.config import RunConfig, build_config, merge_layers
from rpx_core.distributions import check_requires
from rpx_core.errors import ConfigError
from rpx_core.host import Host
from rpx_core.models import ModelPart
from rpx_core.plan import Plan, make_plan
from rpx_core.protocols import Protocol, load_protocol
from rpx_core.strangers import warn_of_strangers
from rpx_core.tasks import tasks_meant


@dataclass(frozen=True)
class Layers:
    """The settings of a command: flags over file over protocol over defaults."""

    flags: Mapping[str, Any]
    file: Mapping[str, Any]
    source: str = "command line"

    def merged(self, protocol: Protocol | None) -> dict[str, Any]:
        """All layers as one table."""
        return merge_layers(self.flags, self.file, protocol.layer if protocol else {})


def make_plans(
    host: Host,
    layers: Layers,
    output: Path,
    model: ModelPart | None = None,
) -> list[Plan]:
    """One plan per task that the layers mean; raises ConfigError for what the user can correct."""
    config = build_config(layers.merged(None), source=layers.source)
    # Before any plugin is imported: a wrong version may not even import.
    check_requires(config.requires)
    protocol = _protocol(host, config)
    config = build_config(layers.merged(protocol), source=layers.source)
    tasks = tasks_meant(config, host)
    # Before any file is read: each task reads others.
    if model is not None and model.kind == "files" and len(tasks) > 1:
        raise ConfigError(
            f"the data serves {', '.join(tasks)}",
            hint="say with --task which one the predictions are for",
        )
    return [
        warn_of_strangers(
            make_plan(
                config.model_copy(update={"task": task}),
                host,
                output,
                protocol=protocol,
                model=model,
            )
        )
        for task in tasks
    ]


def _protocol(host: Host, config: RunConfig) -> Protocol | None:
    if config.protocol is None:
        return None
    offer = host.find("protocol", config.protocol)
    protocol = _own_metrics(load_protocol(offer), offer.distribution, host)
    if config.task is not None and config.task.rsplit("/", 1)[-1] != protocol.task:
        raise ConfigError(
            f"protocol {protocol.name} is for {protocol.task}, not {config.task}",
            hint="`rpx list protocols` shows which task each is for",
        )
    return protocol


def _own_metrics(protocol: Protocol, distribution: str, host: Host) -> Protocol:
    """The protocol with its metrics by full name where its own distribution has them.

    A bare name in a protocol means what its author has, not what the task's author calls so.
    """
    offers = host.offers("metric")
    metrics = {}
    for label, named in protocol.layer.get("metrics", {}).items():
        table = {"name": named} if isinstance(named, str) else dict(named)
        full = f"{distribution}/{table['name']}"
        metrics[label] = {**table, "name": full} if full in offers else table
    return replace(protocol, layer={**protocol.layer, **({"metrics": metrics} if metrics else {})})
