"""Libraries that an offer needs and that its distribution does not install by itself."""

from __future__ import annotations

import importlib.util
from typing import Any

from rpx_core.errors import ConfigError
from rpx_core.offers import Offer


def missing_modules(offer: Offer[Any]) -> list[str]:
    """The modules that a spec needs and that cannot be imported here."""
    return [name for name in offer.spec.modules if importlib.util.find_spec(name) is None]


def install_command(offer: Offer[Any]) -> str:
    """What to type where `missing_modules` of a spec are missing."""
    command: str | None = getattr(offer.spec, "install", None)
    if command is not None:
        return command
    extra = offer.spec.extra
    wanted = [f"{offer.distribution}[{extra}]"] if extra else missing_modules(offer)
    return " ".join(["pip install", *(f"'{one}'" for one in wanted)])


def require_extra(offer: Offer[Any]) -> None:
    """Raise ConfigError with the install command when the modules of an extra are missing."""
    missing = missing_modules(offer)
    if missing:
        raise ConfigError(
            f"{offer.full_name} needs {', '.join(missing)}, which is not installed",
            hint=install_command(offer),
        )
