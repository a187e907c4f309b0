"""What `rpx doctor` says: the state of every plugin, names that clash, and pins to paste."""

from __future__ import annotations

import platform
import textwrap
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rpx_core.distributions import UNKNOWN
from rpx_core.errors import ConfigError
from rpx_core.host import Host
from rpx_core.offers import COLLECTIONS, Kind, Plugin, Status
from rpx_core.spelling import did_you_mean

HEADINGS = ("status", "distribution", "version", "plugin", "offers or problem")


@dataclass(frozen=True)
class Diagnosis:
    """Everything the doctor knows, in name order.

    `offers` gives the full names offered by each distribution, by kind; `shared` the bare names
    that several distributions offer and that must therefore be written in full.
    """

    python: str
    plugins: tuple[Plugin, ...]
    offers: Mapping[str, Mapping[Kind, tuple[str, ...]]]
    shared: Mapping[Kind, Mapping[str, tuple[str, ...]]]

    @property
    def healthy(self) -> bool:
        """Whether every plugin works."""
        return all(plugin.status is Status.OK for plugin in self.plugins)

    @property
    def pins(self) -> Mapping[str, str]:
        """The `requires` table that holds a configuration to the working distributions."""
        return {
            plugin.distribution: f"=={plugin.version}"
            for plugin in self.plugins
            if plugin.status is Status.OK and plugin.version != UNKNOWN
        }


def diagnose(host: Host) -> Diagnosis:
    """Load every plugin and call all its hooks, then say how each fared."""
    plugins = host.plugins
    offers: dict[str, dict[Kind, tuple[str, ...]]] = defaultdict(dict)
    shared: dict[Kind, dict[str, tuple[str, ...]]] = {}
    for kind in COLLECTIONS:
        by_distribution = defaultdict(list)
        by_name = defaultdict(list)
        for offer in host.offers(kind).values():
            by_distribution[offer.distribution].append(offer.full_name)
            by_name[offer.spec.name].append(offer.full_name)
        for distribution, names in by_distribution.items():
            offers[distribution][kind] = tuple(names)
        clashes = {name: tuple(full) for name, full in sorted(by_name.items()) if len(full) > 1}
        if clashes:
            shared[kind] = clashes
    return Diagnosis(platform.python_version(), plugins, dict(offers), shared)


def select_plugins(diagnosis: Diagnosis, name: str) -> Diagnosis:
    """What concerns the plugins whose label or distribution contains `name`.

    Raises ConfigError where there is none.
    """
    found = tuple(one for one in diagnosis.plugins if name in one.name or name in one.distribution)
    if not found:
        known = {known for one in diagnosis.plugins for known in (one.name, one.distribution)}
        meant = did_you_mean(name, known)
        raise ConfigError(
            f"no plugin is named {name!r}" + (f"; {meant}" if meant else ""),
            hint="`rpx list plugins` shows what is installed",
        )
    kept = {plugin.distribution for plugin in found}
    offers = {owner: kinds for owner, kinds in diagnosis.offers.items() if owner in kept}
    return replace(diagnosis, plugins=found, offers=offers)


def to_rows(diagnosis: Diagnosis) -> list[tuple[str, ...]]:
    """One row per plugin, under `HEADINGS`; broken ones first."""
    return [
        (
            plugin.status.value,
            plugin.distribution,
            plugin.version + (" (editable)" if plugin.editable else ""),
            plugin.name,
            plugin.problem or _summarise(diagnosis.offers.get(plugin.distribution, {})),
        )
        for plugin in sorted(diagnosis.plugins, key=lambda plugin: plugin.status is Status.OK)
    ]


def to_text(diagnosis: Diagnosis) -> str:
    """The whole diagnosis for a terminal; the tracebacks come last, being longest."""
    sections = [
        f"Python {diagnosis.python}",
        _table([HEADINGS, *to_rows(diagnosis)]),
        *_shared_names(diagnosis),
        *_pins(diagnosis),
        *(
            f"{plugin}:\n{textwrap.indent(plugin.traceback.rstrip(), '  ')}"
            for plugin in diagnosis.plugins
            if plugin.traceback is not None
        ),
    ]
    return "\n\n".join(sections) + "\n"


def to_dict(diagnosis: Diagnosis) -> dict[str, object]:
    """The whole diagnosis as JSON values."""
    return {
        "python": diagnosis.python,
        "healthy": diagnosis.healthy,
        "plugins": [
            {
                "name": plugin.name,
                "distribution": plugin.distribution,
                "version": plugin.version,
                "editable": plugin.editable,
                "status": plugin.status.value,
                "hooks": list(plugin.hooks),
                "problem": plugin.problem,
                "traceback": plugin.traceback,
            }
            for plugin in diagnosis.plugins
        ],
        "offers": {
            distribution: {kind: list(names) for kind, names in kinds.items()}
            for distribution, kinds in diagnosis.offers.items()
        },
        "shared_names": {
            kind: {name: list(full) for name, full in names.items()}
            for kind, names in diagnosis.shared.items()
        },
        "requires": dict(diagnosis.pins),
    }


def _summarise(offers: Mapping[Kind, Sequence[str]]) -> str:
    counts = (
        f"{len(names)} {kind}{'s' if len(names) > 1 else ''}" for kind, names in offers.items()
    )
    return ", ".join(counts) or "nothing"


def _shared_names(diagnosis: Diagnosis) -> list[str]:
    lines = [
        f"  {kind} {name}: {', '.join(full)}"
        for kind, names in diagnosis.shared.items()
        for name, full in names.items()
    ]
    heading = "Offered by several distributions; write the full name:"
    return ["\n".join([heading, *lines])] if lines else []


def _pins(diagnosis: Diagnosis) -> list[str]:
    pins = [f'{name} = "{version_range}"' for name, version_range in diagnosis.pins.items()]
    heading = "To hold a configuration to these versions, paste:"
    return ["\n".join([heading, "[requires]", *pins])] if pins else []


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
