"""`rpx list`: what is installed, from specs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from rpx_core.cli.output import State, common_options, print_json
from rpx_core.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from rpx_core.host import Host
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

PLUGINS = "plugins"
_WORDS = (*KINDS, PLUGINS)

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


def _plural(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The plural of a kind; its singular means the same."""
    for word in (value, f"{value}s"):
        if word is None or word in _WORDS:
            return word
    meant = did_you_mean(str(value), _WORDS, most=1) or f"kinds are {', '.join(_WORDS)}"
    raise click.BadParameter(f"{value!r} is no kind; {meant}", ctx, param)


def _complete(ctx: click.Context, param: click.Parameter, start: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in _WORDS if word.startswith(start)]


@click.command(
    name="list",
    epilog="""\b
Examples:
  rpx list                      everything
  rpx list models               every model, and the task it is for
  rpx list metrics depth        names that contain `depth`
  rpx list model ground-plane   one model, with its options
  rpx list plugins
  rpx list plugins rpx-depth
""",
)
@click.argument("kind", required=False, callback=_plural, shell_complete=_complete)
@click.argument("name", required=False)
@common_options
def list_(*, state: State, kind: str | None, name: str | None) -> None:
    """Show what is installed of a KIND, or the entries whose name contains NAME.

    KIND is tasks, models, metrics, datasets, protocols, reporters, adapters or plugins. Without any
    entry of that NAME, the exit code is 2.

    The whole NAME shows that entry with its options. Otherwise nothing heavy is imported: plugins
    describe what they offer.
    """
    host = state.discover()
    if kind == PLUGINS:
        from rpx_core.cli.doctor import print_plugins

        print_plugins(state, host, name)
        return
    wanted = {kind: KINDS[kind]} if kind else KINDS
    found = {plural: _matching(host, single, name) for plural, single in wanted.items()}
    entries = {plural: [_entry(offer) for offer in offers] for plural, offers in found.items()}
    if name is not None:
        for plural, offers in found.items():
            for entry, offer in zip(entries[plural], offers, strict=True):
                if name in (offer.spec.name, offer.full_name):
                    entry.update(_options(offer))
    if state.as_json:
        print_json(entries)
        return
    for plural, shown in entries.items():
        if shown or kind:
            _print(state, plural, shown)


def _matching(host: Host, kind: Kind, name: str | None) -> list[Offer[Any]]:
    """The offers of this name, else those whose name contains it; ConfigError for none of them."""
    offers = list(host.offers(kind).values())
    if name is None:
        return offers
    exact = [offer for offer in offers if name in (offer.spec.name, offer.full_name)]
    near = [offer for offer in offers if name in offer.full_name]
    return exact or near or [host.find(kind, name)]


def _options(offer: Offer[Any]) -> dict[str, Any]:
    """What the options of one entry are; their class is imported for that."""
    target = getattr(offer.spec, "options", None)
    if target is None:
        return {"options": []}
    from rpx_core.option_table import tabulate_options
    from rpx_core.parts import load_options_class

    table = tabulate_options(load_options_class(target, offer.full_name))
    return {"options": [option.document() for option in table.options], "about": table.summary}


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
    for entry in entries:
        if "options" in entry:
            _print_options(console, entry)


def _print_options(console: Console, entry: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    options = entry["options"]
    if not options:
        console.print(f"{escape(entry['name'])} has no options")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(f"options of {entry['name']}", style="bold", no_wrap=True)
    table.add_column("type", overflow="fold")
    table.add_column("default", overflow="fold")
    described = any(option["description"] for option in options)
    if described:
        table.add_column("", overflow="fold")
    for option in options:
        default = "required" if option["required"] else option["default"]
        cells = [option["name"], option["type"], default]
        cells += [option["description"]] if described else []
        table.add_row(*(escape(_printable(cell)) for cell in cells))
    console.print(table)
    if entry["about"]:
        console.print()
        console.print(escape(_prose(entry["about"])))
    console.print()


def _printable(text: str) -> str:
    """Text of a plugin on one line, without control characters."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())


def _prose(docstring: str) -> str:
    """A docstring whose paragraphs fill the width of the terminal."""
    return "\n\n".join(_printable(paragraph) for paragraph in docstring.split("\n\n"))
