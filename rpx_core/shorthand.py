"""`NAME:TEXT`, short for a registered name with one option set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpx_core.errors import ConfigError
from rpx_core.host import Host
from rpx_core.names import check_name
from rpx_core.offers import Kind
from rpx_core.specs import DatasetSpec, ModelSpec


def split_shorthand(host: Host, kind: Kind, name: str) -> tuple[str, str | None]:
    """The registered name and the text behind its colon; the whole name and None elsewhere.

    What is before the first colon must be the name of a spec that takes an argument, so that
    `module:function` stays what it is. Raises ConfigError for what can be no name.
    """
    head, colon, text = check_name(kind, name).partition(":")
    if colon and any(
        head in (offer.spec.name, offer.full_name) and offer.spec.argument is not None
        for offer in host.offers(kind).values()
    ):
        return head, text
    return name, None


def with_argument(
    spec: ModelSpec | DatasetSpec, options: Mapping[str, Any], text: str | None, *, field_name: str
) -> dict[str, Any]:
    """The options with the text behind the colon among them; ConfigError where both are given."""
    if text is None:
        return dict(options)
    if spec.argument is None:
        raise ConfigError(f"{spec.name}:{text}: {spec.name} takes nothing behind a colon")
    if not text:
        raise ConfigError(f"{spec.name}: nothing stands behind the colon")
    if spec.argument in options:
        raise ConfigError(
            f"{spec.name}:{text} sets {field_name}.{spec.argument}, which is set as well",
            hint="say it once",
        )
    return {**options, spec.argument: text}
