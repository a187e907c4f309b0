"""The models that installed plugins offer, by name."""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol

from rpx_core.checkpoint_places import refuse_missing
from rpx_core.config import Named
from rpx_core.contracts import Model, Runtime, TaskType
from rpx_core.datasets import cache_directory
from rpx_core.errors import ConfigError
from rpx_core.extras import require_extra
from rpx_core.host import Host
from rpx_core.models import build_registered, could_do, require_available, tasks_of_model
from rpx_core.names import bare_name, is_same_task
from rpx_core.offers import Offer
from rpx_core.parts import resolve_part
from rpx_core.shorthand import split_shorthand, with_argument
from rpx_core.specs import ModelSpec
from rpx_core.tasks import only_task


class ModelFactory(Protocol):
    """Builds a model for a device; keyword arguments are the model's own options.

    `task` is for models that serve several, where neither their options nor their checkpoint say
    which of them is meant.
    """

    def __call__(self, *, device: str, task: TaskType | str | None = None, **kwargs: Any) -> Model:
        """The model, before its `setup()`."""
        ...


def available_models(include_deferred: bool = False) -> list[str]:
    """Names of the models that are installed, sorted; a name that two plugins use is given in full.

    Models that are only announced are left out unless `include_deferred`.
    """
    offers = [
        offer
        for offer in Host.discover().offers("model").values()
        if include_deferred or offer.spec.unavailable is None
    ]
    times = Counter(offer.spec.name for offer in offers)
    return sorted(
        offer.spec.name if times[offer.spec.name] == 1 else offer.full_name for offer in offers
    )


def get_factory(name: str) -> ModelFactory:
    """The factory of a model, by bare or full name, or `NAME:TEXT` where the model takes a text.

    Raises ConfigError for an unknown name, with those that are known, and for a deferred model.
    """
    host = Host.discover()
    bare, text = split_shorthand(host, "model", name)
    _require_offered(host, bare)

    def factory(*, device: str, task: TaskType | str | None = None, **kwargs: Any) -> Model:
        named = Named(name=name, options=kwargs)
        offer, serves = _choose(host, named, None if task is None else str(task))
        require_available(offer)
        require_extra(offer)
        options = with_argument(offer.spec, kwargs, text, field_name="model.options")
        part = resolve_part(offer, options, field_name="model.options")
        runtime = Runtime(device=device, seed=0, cache=cache_directory(), task=serves)
        return build_registered(offer.full_name, part, runtime)

    return factory


def resolve(name: str, *, device: str, task: TaskType | str | None = None, **kwargs: Any) -> Model:
    """The model of a name on a device, before its `setup()`; see `get_factory`.

    A checkpoint says which task it is for, as on the command line: a Mask2Former is for two, and
    what is not on this machine could be for any. ConfigError then lists them; `task` decides.
    """
    return get_factory(name)(device=device, task=task, **kwargs)


def _choose(host: Host, named: Named, task: str | None) -> tuple[Offer[ModelSpec], str]:
    """The one offer that is meant, and the bare name of its task."""
    known = tasks_of_model(host, named)
    does = could_do(host, known)
    served = {
        full: [one for one in tasks if task is None or is_same_task(task, one)]
        for full, tasks in does.items()
    }
    served = {full: tasks for full, tasks in served.items() if tasks}
    possible = sorted({bare_name(one) for tasks in served.values() for one in tasks})
    if not possible:
        all_tasks = sorted({one for tasks in does.values() for one in tasks})
        raise ConfigError(
            f"model {named.name} does {', '.join(all_tasks) or 'no task that is installed'}"
            + (f", not {task}" if task is not None else ""),
            hint="`rpx list models` shows what there is for each task",
        )
    name = split_shorthand(host, "model", named.name)[0]
    if len(served) == 1:
        (offer,) = (host.find("model", full) for full in served)
        if len(possible) > 1 and offer.spec.does is None:
            # Whatever its options: such a model has a task of its own, or takes any of them.
            return offer, ""
    if len(possible) > 1 and None in known.values():
        text = split_shorthand(host, "model", named.name)[1]
        refuse_missing({"checkpoint": text, **named.options})
    only = only_task(
        possible,
        named.name,
        is_known=None not in known.values(),
        hint=f"say which one, as in task={possible[0]!r}",
    )
    return host.find("model", name, task=only), only


def _require_offered(host: Host, name: str) -> None:
    """Raise ConfigError for a name that nobody offers, or that is only announced."""
    named = [offer for offer in host.offers("model").values() if offer.spec.name == name]
    try:
        named = named or [host.find("model", name)]
    except ConfigError as error:
        known = ", ".join(available_models())
        said = f"{error.hint}; " if error.hint else ""
        raise ConfigError(error.message, hint=f"{said}available: {known}") from error
    if len(named) == 1:
        require_available(named[0])
