"""From the layers of a configuration to finished runs: what `rpx run` and `rpx score` share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rpx_core.config import build_config, merge_layers
from rpx_core.distributions import check_requires
from rpx_core.errors import ConfigError
from rpx_core.host import Host
from rpx_core.models import ModelPart
from rpx_core.plan import Plan, make_plan
from rpx_core.protocols import Protocol, load_protocol
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
    settings = layers.merged(None)
    requires = settings.get("requires", {})
    if isinstance(requires, Mapping):
        check_requires({str(name): str(wanted) for name, wanted in requires.items()})
    protocol = _protocol(host, settings)
    settings = layers.merged(protocol)
    return [
        make_plan(
            build_config({"task": task}, settings, source=layers.source),
            host,
            output,
            protocol=protocol,
            model=model,
        )
        for task in tasks_meant(settings, host)
    ]


def _protocol(host: Host, settings: Mapping[str, Any]) -> Protocol | None:
    name = settings.get("protocol")
    if name is None:
        return None
    protocol = load_protocol(host.find("protocol", str(name)))
    task = settings.get("task")
    if task is not None and str(task).rsplit("/", 1)[-1] != protocol.task:
        raise ConfigError(
            f"protocol {protocol.name} is for {protocol.task}, not {task}",
            hint="`rpx list protocols` shows which task each is for",
        )
    return protocol
