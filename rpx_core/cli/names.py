"""Tab completion of registered names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Callable

    from rpx_core.offers import Kind


def complete(
    kind: Kind,
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Completion of the bare names of one kind; a broken plugin stays silent here."""

    def names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from rpx_core.host import Host

        host = Host.discover(warn=lambda _: None)
        summaries: dict[str, list[str]] = {}
        for offer in host.offers(kind).values():
            spec = offer.spec
            # NAME:TEXT says what such a name is for: go on typing behind the colon.
            name = f"{spec.name}:" if getattr(spec, "argument", None) else spec.name
            if name.startswith(incomplete):
                summaries.setdefault(name, []).append(spec.summary)
        return [CompletionItem(name, help="; ".join(found)) for name, found in summaries.items()]

    return names
