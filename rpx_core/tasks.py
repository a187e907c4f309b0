"""Which tasks a command means when it names none."""

from __future__ import annotations

from rpx_core.config import Data, RunConfig
from rpx_core.datasets import find_dataset, is_manifest_path, open_dataset
from rpx_core.errors import ConfigError
from rpx_core.host import Host
from rpx_core.models import is_reference
from rpx_core.names import is_same_task


def tasks_meant(config: RunConfig, host: Host) -> list[str]:
    """Full names of the tasks that model, data and what is installed have in common.

    One task named is that task; without any, every installed task that fits, so that `rpx run`
    alone shows all of them. A model that could do several must be told which.
    """
    if config.task is not None:
        return [config.task]
    offers = host.offers("task")
    if not offers:
        raise ConfigError("no task plugin is installed", hint="pip install rpx-depth")
    served = _served(config.data, host)
    fitting = {
        full: offer.spec.name
        for full, offer in offers.items()
        if any(is_same_task(full, name) for name in served)
    }
    if not fitting:
        raise ConfigError(
            f"the data serves {', '.join(served)}; installed are {', '.join(offers)}",
            hint="install the plugin of one of these tasks, or choose other --data",
        )
    model = config.model.name if config.model else None
    if model is None and len(fitting) > 1 and _is_selective(config.data, host):
        raise ConfigError(
            f"{config.data.name} is fetched for one task at a time",
            hint=f"say which one with --task: {', '.join(fitting.values())}",
        )
    if model is None:
        return list(fitting)
    if not is_reference(model):
        does = host.find("model", model).spec.tasks
        fitting = {
            full: short
            for full, short in fitting.items()
            if any(is_same_task(full, name) for name in does)
        }
        if not fitting:
            raise ConfigError(
                f"model {model} does {', '.join(does)}; the data serves {', '.join(served)}",
                hint="`rpx list models` and `rpx list datasets` show what fits",
            )
    if len(fitting) > 1:
        raise ConfigError(
            f"the model could do {', '.join(fitting)}", hint="say which one with --task"
        )
    return list(fitting)


def _served(data: Data, host: Host) -> tuple[str, ...]:
    if is_manifest_path(data):
        return open_dataset(host, data).header.served()
    return find_dataset(host, data)[0].spec.tasks


def _is_selective(data: Data, host: Host) -> bool:
    return not is_manifest_path(data) and find_dataset(host, data)[0].spec.selective
