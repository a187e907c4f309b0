"""Which tasks a command means when it names none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rpx_core.checkpoint_places import refuse_missing
from rpx_core.checkpoints import architectures
from rpx_core.config import Data, Named, RunConfig
from rpx_core.datasets import find_dataset, is_manifest_path, open_dataset
from rpx_core.errors import ConfigError, first_few
from rpx_core.host import Host
from rpx_core.models import could_do, is_reference, tasks_of_model
from rpx_core.names import is_same_task
from rpx_core.shorthand import split_shorthand


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
    if config.model is None and len(fitting) > 1 and _is_selective(config.data, host):
        raise ConfigError(
            f"{config.data.name} is fetched for one task at a time",
            hint=f"say which one with --task: {', '.join(fitting.values())}",
        )
    if config.model is None:
        return list(fitting)
    if is_reference(split_shorthand(host, "model", config.model.name)[0]):
        return [only_task(list(fitting), config.model.name)]
    return [_only_for_model(host, config.model, fitting, served)]


def _only_for_model(
    host: Host, model: Named, fitting: Mapping[str, str], served: Sequence[str]
) -> str:
    """The one task that a registered model and the data have in common."""
    known = tasks_of_model(host, model)
    if None in known.values():
        refuse_missing(_checkpoint_options(host, model))
    does = {task for tasks in could_do(host, known).values() for task in tasks}
    common = [full for full in fitting if any(is_same_task(full, name) for name in does)]
    if not common:
        raise ConfigError(
            f"model {model.name} does {', '.join(sorted(does)) or 'no task that is installed'}"
            f"{_made_for(host, model)}; the data serves {', '.join(served)}",
            hint="`rpx list models` and `rpx list datasets` show what fits",
        )
    return only_task(common, model.name, is_known=None not in known.values())


def _made_for(host: Host, model: Named) -> str:
    """What a checkpoint says that it is made for."""
    named = architectures(_checkpoint_options(host, model))
    return f": its config.json names {first_few(named, 3)}" if named else ""


def _checkpoint_options(host: Host, model: Named) -> dict[str, Any]:
    """The options of a model, as those of a checkpoint would be named."""
    _, text = split_shorthand(host, "model", model.name)
    return {"checkpoint": text, **model.options}


def only_task(
    tasks: Sequence[str],
    model: str,
    *,
    is_known: bool = True,
    hint: str = "say which one with --task",
) -> str:
    """The task, where there is one; ConfigError that lists them where a model could do several."""
    if len(tasks) == 1:
        return tasks[0]
    why = "" if is_known else " (what it was trained for cannot be read on this machine)"
    raise ConfigError(f"the model {model} could do {', '.join(tasks)}{why}", hint=hint)


def _served(data: Data, host: Host) -> tuple[str, ...]:
    if is_manifest_path(data):
        return open_dataset(host, data).header.served()
    return find_dataset(host, data)[0].spec.tasks


def _is_selective(data: Data, host: Host) -> bool:
    return not is_manifest_path(data) and find_dataset(host, data)[0].spec.selective
