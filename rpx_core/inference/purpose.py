"""What a checkpoint is for, said before a network of another task is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rpx_core.checkpoints import CheckpointOptions
from rpx_core.errors import AdapterError


def known_classes(config: Any) -> list[str]:
    """The classes that a configuration names, of those that transformers has."""
    import transformers

    return [name for name in config.architectures or () if hasattr(transformers, name)]


def check_purpose(options: CheckpointOptions, config: Any, network: str, lacks: str) -> None:
    """Raise AdapterError where the class that a checkpoint names is none that `network` loads.

    `network` is a class of transformers such as `AutoModelForDepthEstimation`. A checkpoint that
    names no class may be of any.
    """
    import transformers

    named = known_classes(config)
    if not named:
        return
    purpose = network.removeprefix("AutoModel")
    # Classes for zero-shot detection are called ...ForObjectDetection as well.
    ending = purpose.replace("ZeroShot", "")
    loads = getattr(transformers, f"MODEL{_snake(purpose)}_MAPPING")
    if type(config) not in loads or not any(name.endswith(ending) for name in named):
        raise other_purpose(options, named, lacks)


def other_purpose(options: CheckpointOptions, named: Sequence[str], lacks: str) -> AdapterError:
    """The error of a checkpoint whose network does something else than it is asked for."""
    return AdapterError(
        f"{options.located()} is a {named[0]}, which {lacks}", hint=_better_task(options)
    )


def _better_task(options: CheckpointOptions) -> str:
    """What else to do with such a checkpoint, by all that is installed."""
    from rpx_core.config import Named
    from rpx_core.host import Host
    from rpx_core.models import tasks_of_model

    given = {"checkpoint": str(options.checkpoint)}
    if options.revision is not None:
        given["revision"] = options.revision
    known = tasks_of_model(Host.discover(), Named(name="hf", options=given))
    found = [task for tasks in known.values() for task in tasks or ()]
    if not found:
        return "none of the installed tasks is for it; `rpx list models` shows what there is"
    return (
        f"it is for {' or '.join(found)}: --task {found[0]}, or from Python "
        f"rpx.resolve('hf:CHECKPOINT', device='auto', task={found[0]!r})"
    )


def _snake(name: str) -> str:
    return "".join(f"_{letter}" if letter.isupper() else letter for letter in name).upper()
