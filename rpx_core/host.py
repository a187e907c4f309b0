"""The plugin host: finds plugins, asks them what they offer, and survives them.

A plugin that fails, whenever and however, is set aside: it costs one line on stderr, keeps
its traceback for `rpx doctor`, and changes nothing for the host or for another plugin.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pluggy import PluginManager

from rpx_core.distributions import GROUP, Declaration, check_requires, read_declarations
from rpx_core.errors import PluginError
from rpx_core.isolation import (
    Breakdown,
    attempt,
    call_plugin,
    import_user_code,
    load_target,
    one_line,
)
from rpx_core.names import DOCTOR, Request, choose
from rpx_core.offers import COLLECTIONS, NOTIFICATIONS, Kind, Offer, Offers, Plugin, Status
from rpx_core.progress import Watch, watch_nothing
from rpx_core.registration import collect, implemented_hooks, register
from rpx_core.specs import Spec

__all__ = [
    "Host",
    "Kind",
    "Offer",
    "Plugin",
    "Status",
    "call_plugin",
    "check_requires",
    "import_user_code",
    "load_target",
]

Warn = Callable[[str], None]


class Host:
    """The installed plugins and their offers. Each plugin is imported at most once, when needed.

    What a plugin offered disappears when a later hook of it fails, so a broken plugin is never
    half used. With `strict`, the first broken plugin raises PluginError instead.
    """

    def __init__(self, declarations: Sequence[Declaration], *, strict: bool, warn: Warn) -> None:
        self._entries = tuple(_Entry(declaration) for declaration in declarations)
        self._strict = strict
        self._warn = warn
        self.watch: Watch = watch_nothing

    @classmethod
    def discover(
        cls,
        *,
        strict: bool = False,
        path: Sequence[str] | None = None,
        warn: Warn | None = None,
        watch: Watch = watch_nothing,
    ) -> Host:
        """Read the metadata of installed plugins; with `strict`, also load and ask all of them.

        `path` are the folders to search, `sys.path` by default. `warn` gets the one line that
        each broken plugin costs; the default prints it on stderr. `watch` shows what takes long,
        such as a download.
        """
        host = cls(read_declarations(path), strict=strict, warn=warn or _print_warning)
        host.watch = watch
        if strict:
            host._ask_everything()
        return host

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The state of every plugin, in name order, after loading it and calling all its hooks."""
        self._ask_everything()
        return self._states()

    def offers(self, kind: Kind) -> Offers:
        """Everything offered of one kind, by full name, in order of these names.

        Hooks of other kinds are not called.
        """
        for entry in self._usable():
            self._collect(entry, kind)
        self._disable_duplicates(kind)
        found = [entry.offer(spec) for entry in self._usable() for spec in entry.specs[kind]]
        return {offer.full_name: offer for offer in sorted(found, key=lambda o: o.full_name)}

    def find(
        self, kind: Kind, name: str, *, task: str | None = None, prefer: str | None = None
    ) -> Offer[Any]:
        """The offer that a full or bare name stands for; see `rpx_core.names.choose`."""
        offers = self.offers(kind)
        return choose(Request(kind, name, task, prefer), offers, self._states())

    def notify(self, hook: str, **arguments: object) -> None:
        """Tell every plugin that implements a notification hook.

        One that raises is reported once and not called again by this host for this hook.
        """
        if hook not in NOTIFICATIONS:
            raise ValueError(f"{hook} is not a notification hook; they are {NOTIFICATIONS}")
        for entry in self._usable():
            if not entry.hears(hook):
                continue
            outcome = attempt(hook, partial(getattr(entry.manager.hook, hook), **arguments))
            if isinstance(outcome, Breakdown):
                entry.silenced.add(hook)
                self._warn(f"warning: {entry.state()}: {outcome.problem}; it is not called again")

    def listens(self, hook: str) -> bool:
        """Whether `notify` would call anyone, so that preparing the arguments is worth it."""
        return any(entry.hears(hook) for entry in self._usable())

    def _ask_everything(self) -> None:
        for kind in COLLECTIONS:
            self.offers(kind)

    def _states(self) -> tuple[Plugin, ...]:
        return tuple(entry.state() for entry in self._entries)

    def _usable(self) -> Iterator[_Entry]:
        for entry in self._entries:
            if not entry.loaded:
                self._load(entry)
            if entry.failure is None:
                yield entry

    def _load(self, entry: _Entry) -> None:
        entry.loaded = True
        declaration = entry.declaration
        if declaration.problem is not None:
            self._disable(entry, Breakdown(one_line(declaration.problem)))
            return
        doing = f"import of {declaration.value}"
        manager = attempt(doing, lambda: register(declaration))
        if isinstance(manager, Breakdown):
            self._disable(entry, manager)
            return
        entry.manager = manager
        entry.hooks = implemented_hooks(manager)

    def _collect(self, entry: _Entry, kind: Kind) -> None:
        if kind in entry.specs:
            return
        specs = attempt(COLLECTIONS[kind].hook, lambda: collect(entry.manager, kind))
        if isinstance(specs, Breakdown):
            self._disable(entry, specs)
        else:
            entry.specs[kind] = specs

    def _disable_duplicates(self, kind: Kind) -> None:
        """Set aside every entry point that shares a name with another of its distribution."""
        owners = defaultdict(list)
        for entry in self._usable():
            for spec in entry.specs[kind]:
                owners[entry.declaration.distribution, spec.name].append(entry)
        for (distribution, name), entries in owners.items():
            if len(entries) == 1:
                continue
            labels = ", ".join(repr(entry.declaration.label) for entry in entries)
            problem = f"{distribution} offers {kind} {name!r} in several entry points: {labels}"
            for entry in entries:
                if entry.failure is None:
                    self._disable(entry, Breakdown(problem))

    def _disable(self, entry: _Entry, failure: Breakdown) -> None:
        entry.failure = failure
        entry.specs.clear()
        message = f"{entry.state()} is broken: {failure.problem}"
        if self._strict:
            raise PluginError(message, hint=DOCTOR) from failure.error
        self._warn(f"warning: {message}; {DOCTOR}")


@dataclass
class _Entry:
    """One entry point and how far it has come."""

    declaration: Declaration
    manager: PluginManager = field(default_factory=lambda: PluginManager(GROUP))
    loaded: bool = False
    hooks: tuple[str, ...] = ()
    specs: dict[Kind, tuple[Spec, ...]] = field(default_factory=dict)
    silenced: set[str] = field(default_factory=set)
    failure: Breakdown | None = None

    def hears(self, hook: str) -> bool:
        """Whether the plugin implements a hook and has not failed in it."""
        return hook in self.hooks and hook not in self.silenced

    def offer(self, spec: Spec) -> Offer[Any]:
        """A spec of this plugin with where it comes from."""
        declared = self.declaration
        return Offer(spec, declared.distribution, declared.version, declared.editable)

    def state(self) -> Plugin:
        """What the outside may know."""
        return Plugin(
            name=self.declaration.label,
            distribution=self.declaration.distribution,
            version=self.declaration.version,
            status=Status.OK if self.failure is None else Status.BROKEN,
            problem=None if self.failure is None else self.failure.problem,
            traceback=None if self.failure is None else self.failure.traceback,
            hooks=self.hooks,
            editable=self.declaration.editable,
        )


def _print_warning(line: str) -> None:
    print(line, file=sys.stderr)
