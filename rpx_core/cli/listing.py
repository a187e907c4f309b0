"""`rpx list`: what is installed, from specs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rpx_core.cli.output import State, common_options, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rpx_core.offers import Kind, Offer

KINDS: Mapping[str, Kind] = {
    "tasks": "task",
    "models": "model",
    "metrics": "metric",
    "datasets": "dataset",
    "protocols": "protocol",
    "reporters": "reporter",
    "adapters": "adapter",
}

_SHOWN = (
    "tasks",
    "combines",
    "needs",
    "argument",
    "extra",
    "unavailable",
    "metrics",
    "baseline",
    "primary",
)


@click.command(
    name="list",
    epilog="""\b
Examples:
  rpx list                   everything
  rpx list models            every model, and the task it is for
  rpx list metrics depth     names that contain `depth`
  rpx list plugins
""",
)
@click.argument("kind", required=False, type=click.Choice([*KINDS, "plugins"]))
@click.argument("name", required=False)
@common_options
def list_(*, state: State, kind: str | None, name: str | None) -> None:
    """Show what is installed, or the entries whose name contains NAME.

    Nothing heavy is imported: plugins describe what they offer.
    """
    host = state.discover()
    if kind == "plugins":
        from rpx_core.cli.doctor import print_plugins

        print_plugins(state, host)
        return
    wanted = {kind: KINDS[kind]} if kind else KINDS
    found = {
        plural: [
            _entry(offer)
            for full, offer in host.offers(single).items()
            if name is None or name in full
        ]
        for plural, single in wanted.items()
    }
    if state.as_json:
        print_json(found)
        return
    for plural, entries in found.items():
        if entries or kind:
            _print(state, plural, entries)


def _entry(offer: Offer[Any]) -> dict[str, Any]:
    spec = offer.spec
    entry = {
        "name": spec.name,
        "full_name": offer.full_name,
        "version": offer.version,
        "summary": spec.summary,
    }
    for field in _SHOWN:
        value = getattr(spec, field, None)
        if value:
            entry[field] = dict(value) if field == "metrics" else value
    return entry


def _tasks(entry: dict[str, Any]) -> str:
    """The tasks of an entry; those of a stack metric by what it takes of each sample."""
    together = [" or ".join(names) for names in entry.get("combines", ())]
    return " + ".join(together) or ", ".join(entry.get("tasks", ()))


def _print(state: State, title: str, entries: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    console = state.console()
    if not entries:
        console.print(f"no {title} found; `rpx doctor` shows the state of plugins")
        return
    table = Table(box=None, pad_edge=False, header_style="dim", title=None)
    table.add_column(title, style="bold", no_wrap=True)
    table.add_column("from", style="dim", no_wrap=True)
    table.add_column("", overflow="fold")
    for entry in entries:
        note = entry["summary"]
        if title in {"models", "metrics", "protocols"}:
            note += f" [{_tasks(entry)}]"
        if "extra" in entry:
            note += f" (extra: {entry['extra']})"
        if "unavailable" in entry:
            note += f" (not available: {entry['unavailable']})"
        distribution = entry["full_name"].split("/")[0]
        table.add_row(escape(entry["name"]), escape(distribution), escape(note))
    console.print(table)
    console.print()
