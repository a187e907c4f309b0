"""Which tasks a command means when it names none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpx_core.config import Data
from rpx_core.datasets import is_manifest_path, open_dataset
from rpx_core.errors import ConfigError
from rpx_core.host import Host
from rpx_core.models import is_reference


def tasks_meant(settings: Mapping[str, Any], host: Host) -> list[str]:
    """Full names of the tasks that model, data and what is installed have in common.

    `settings` are the merged fields of the configuration so far. One task named is that task;
    without any, every installed task that fits, so that `rpx run` alone shows all of them.
    """
    named = settings.get("task")
    if named is not None:
        return [str(named)]
    offers = host.offers("task")
    if not offers:
        raise ConfigError("no task plugin is installed", hint="pip install rpx-depth")
    wanted = {offer.spec.name: name for name, offer in offers.items()}
    served = _served(settings.get("data", "demo"), host)
    fitting = {short: full for short, full in wanted.items() if short in served}
    model = _name(settings.get("model"))
    if model is not None and not is_reference(model):
        does = host.find("model", model).spec.tasks
        fitting = {short: full for short, full in fitting.items() if short in does}
        if not fitting:
            raise ConfigError(
                f"model {model} does {', '.join(does)}; the data serves {', '.join(served)}",
                hint="`rpx list models` and `rpx list datasets` show what fits",
            )
    if not fitting:
        raise ConfigError(
            f"the data serves {', '.join(served)}; installed are {', '.join(wanted)}",
            hint="install the plugin of one of these tasks, or choose other --data",
        )
    if model is not None and len(fitting) > 1:
        raise ConfigError(
            f"the model could do {', '.join(fitting)}", hint="say which one with --task"
        )
    return list(fitting.values())


def _served(value: Any, host: Host) -> tuple[str, ...]:
    data = Data.model_validate(value)
    if is_manifest_path(data):
        return open_dataset(host, data).header.served()
    tasks: tuple[str, ...] = host.find("dataset", data.name).spec.tasks
    return tasks


def _name(value: Any) -> str | None:
    if isinstance(value, Mapping):
        return str(value["name"]) if "name" in value else None
    return None if value is None else str(value)
