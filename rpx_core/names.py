"""How a name on the command line or in a configuration becomes one offer."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from rpx_core.errors import ConfigError, PluginError, kind_of
from rpx_core.offers import Kind, Offer, Offers, Plugin, Status, canonical
from rpx_core.specs import Spec
from rpx_core.spelling import did_you_mean

LONGEST_NAME = 400
"""Characters of a name, with what may stand behind its colon."""

OFFICIAL_TASKS: Mapping[str, str] = MappingProxyType(
    {
        task: distribution
        for distribution, tasks in (
            ("rpx-depth", "monocular_depth sparse_depth"),
            ("rpx-seg", "object_segmentation semantic_segmentation"),
            (
                "rpx-detection",
                "object_detection open_vocab_detection visual_grounding object_tracking",
            ),
            ("rpx-pose", "relative_camera_pose keypoint_matching trajectory"),
            ("rpx-nvs", "novel_view_synthesis"),
        )
        for task in tasks.split()
    }
)
"""Which of our own distributions brings a task: what to install when it is missing."""

DOCTOR = "run `rpx doctor` for details"


@dataclass(frozen=True)
class Request:
    """A name that is looked for, for one task if given, in one distribution first if given."""

    kind: Kind
    name: str
    task: str | None = None
    prefer: str | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}"


def check_name(kind: Kind, name: Any) -> str:
    """A name that something could have; raises ConfigError for what is no short text."""
    if isinstance(name, str):
        fault = (
            ascii(name[:80]) if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in name) else ""
        )
        if len(name) > LONGEST_NAME:
            fault = f"a text of {len(name)} characters"
    else:
        fault = kind_of(name)
    if fault:
        raise ConfigError(
            f"{fault} is no name of a {kind}; a text of up to {LONGEST_NAME} characters was "
            "expected",
            hint=f"`rpx list {kind}s` shows what is installed",
        )
    return str(name)


def choose(request: Request, offers: Offers, plugins: Sequence[Plugin]) -> Offer[Any]:
    """The one offer that a name stands for.

    A full name is `<distribution>/<name>`. A bare name is looked for in the preferred
    distribution, then in all; it must be unique among the offers for the task.

    Raises ConfigError for a name that is unknown, ambiguous or of another task, and PluginError
    where a broken plugin of the named or preferred distribution may own it.
    """
    check_name(request.kind, request.name)
    if "/" in request.name:
        return _choose_full(request, offers, plugins)
    named = [offer for offer in offers.values() if offer.spec.name == request.name]
    if request.prefer is not None:
        preferred = canonical(request.prefer)
        own = [offer for offer in named if offer.distribution == preferred]
        if own:
            return _only_for_task(request, own)
        # Falling through to another distribution would change what is computed.
        _refuse_broken(request, preferred, plugins)
    if not named:
        _refuse_unknown(request, offers, plugins)
    return _only_for_task(request, named)


def _choose_full(request: Request, offers: Offers, plugins: Sequence[Plugin]) -> Offer[Any]:
    given, _, name = request.name.partition("/")
    distribution = canonical(given)
    offer = offers.get(f"{distribution}/{name}")
    if offer is not None:
        return _only_for_task(request, [offer])
    _refuse_broken(request, distribution, plugins)
    installed = sorted({plugin.distribution for plugin in plugins})
    if distribution not in installed:
        close = _close(distribution, installed)
        # Never a pip command for a name from anywhere: it may be somebody's trap.
        raise ConfigError(
            f"{request}: no plugin distribution {distribution!r} is installed{close}",
            hint=f"pip install {distribution}"
            if distribution in OFFICIAL_TASKS.values()
            else _about_path(request) or "`rpx list plugins` shows what is installed",
        )
    own = [offer.full_name for offer in offers.values() if offer.distribution == distribution]
    raise ConfigError(
        f"{distribution} offers no {request.kind} {name!r}{_close(f'{distribution}/{name}', own)}",
        hint=f"`rpx list {request.kind}s` shows what is installed",
    )


def _only_for_task(request: Request, named: Sequence[Offer[Any]]) -> Offer[Any]:
    matching = [offer for offer in named if _serves(offer.spec, request.task)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = sorted(offer.full_name for offer in matching)
        raise ConfigError(
            f"{request} is ambiguous: it may be {', '.join(names)}",
            hint="write the full name",
            details={"candidates": names},
        )
    served = sorted({task for offer in named for task in offer.spec.tasks})
    names = sorted(offer.full_name for offer in named)
    raise ConfigError(
        f"{request} ({', '.join(names)}) is not for task {request.task}, "
        f"only for {', '.join(served)}",
        hint=f"`rpx list {request.kind}s` shows which tasks each serves",
    )


def _serves(spec: Spec, task: str | None) -> bool:
    """Whether a spec is for a task; a spec that lists none is for every task."""
    tasks: tuple[str, ...] = getattr(spec, "tasks", ())
    return task is None or not tasks or any(is_same_task(task, listed) for listed in tasks)


def is_same_task(task: str, listed: str) -> bool:
    """Whether two task names mean one task: a bare name stands for that of any distribution."""
    if "/" in task and "/" in listed:
        return task == listed
    return bare_name(task) == bare_name(listed)


def bare_name(full_name: str) -> str:
    """A name without its distribution or owner; a slash between spaces is part of a title."""
    return re.split("(?<! )/(?! )", full_name)[-1]


def _refuse_broken(request: Request, distribution: str, plugins: Sequence[Plugin]) -> None:
    for plugin in _broken(plugins):
        if plugin.distribution == distribution:
            raise PluginError(
                f"{request} needs {plugin}, which is broken: {plugin.problem}", hint=DOCTOR
            )


def _refuse_unknown(request: Request, offers: Offers, plugins: Sequence[Plugin]) -> NoReturn:
    known = {offer.spec.name for offer in offers.values()}
    suspects = "; ".join(
        f"{plugin} is broken and may own it: {plugin.problem}" for plugin in _broken(plugins)
    )
    owner = OFFICIAL_TASKS.get(request.name) if request.kind == "task" else None
    if owner is not None and not suspects:
        raise ConfigError(
            f"task {request.name} comes with {owner}, which is not installed",
            hint=f"pip install {owner}",
        )
    raise ConfigError(
        f"no {request.kind} is named {request.name!r}{_close(request.name, known)}"
        + (f"; {suspects}" if suspects else ""),
        hint=_about_path(request)
        or (DOCTOR if suspects else f"`rpx list {request.kind}s` shows what is installed"),
    )


def _about_path(request: Request) -> str | None:
    """What to write where the name is that of a file or folder."""
    path = Path(os.path.expanduser(request.name))
    if not path.exists():
        return None
    if request.kind == "model":
        return f"a checkpoint is hf:{request.name}" if path.is_dir() else f"{request.name}:FUNCTION"
    if request.kind == "dataset":
        return "name a manifest (.json, .jsonl); `rpx data index` writes one for a folder"
    return None


def _broken(plugins: Sequence[Plugin]) -> list[Plugin]:
    return [plugin for plugin in plugins if plugin.status is Status.BROKEN]


def _close(name: str, known: Iterable[str]) -> str:
    meant = did_you_mean(name, known)
    return f"; {meant}" if meant else ""
