"""The models that installed plugins offer, by name."""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol, cast

from rpx_core.contracts import Model, Runtime
from rpx_core.datasets import cache_directory
from rpx_core.errors import ConfigError, ModelError
from rpx_core.host import Host
from rpx_core.models import require_extra
from rpx_core.offers import Offer
from rpx_core.parts import resolve_part
from rpx_core.shorthand import split_shorthand, with_argument
from rpx_core.specs import ModelSpec


class ModelFactory(Protocol):
    """Builds a model for a device; keyword arguments are the model's own options."""

    def __call__(self, *, device: str, **kwargs: Any) -> Model:
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
    offer = _find(host, bare)
    if offer.spec.unavailable is not None:
        raise ConfigError(f"model {offer.full_name} is not available: {offer.spec.unavailable}")

    def factory(*, device: str, **kwargs: Any) -> Model:
        require_extra(offer)
        options = with_argument(offer.spec, kwargs, text, field_name="model_kwargs")
        part = resolve_part(offer, options, field_name="model_kwargs")
        tasks = offer.spec.tasks
        only = tasks[0].rpartition("/")[2] if len(tasks) == 1 else ""
        model = part.call(Runtime(device=device, seed=0, cache=cache_directory(), task=only))
        if not callable(getattr(model, "predict", None)):
            raise ModelError(f"model {offer.full_name}: what was built has no predict()")
        return cast(Model, model)

    return factory


def resolve(name: str, *, device: str, **kwargs: Any) -> Model:
    """The model of a name on a device, before its `setup()`; see `get_factory`."""
    return get_factory(name)(device=device, **kwargs)


def _find(host: Host, name: str) -> Offer[ModelSpec]:
    try:
        offer: Offer[ModelSpec] = host.find("model", name)
    except ConfigError as error:
        known = ", ".join(available_models())
        said = f"{error.hint}; " if error.hint else ""
        raise ConfigError(error.message, hint=f"{said}available: {known}") from error
    return offer
