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
        return [
            CompletionItem(offer.spec.name, help=offer.spec.summary)
            for offer in host.offers(kind).values()
            if offer.spec.name.startswith(incomplete)
        ]

    return names
