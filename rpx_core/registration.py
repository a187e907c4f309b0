"""What one plugin must keep to: known hooks, known arguments, specs of the right type.

Everything here raises; the host calls it inside its isolation.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator

from importlib_metadata import EntryPoint
from pluggy import HookCaller, PluginManager

from rpx_core import hookspecs
from rpx_core.distributions import GROUP, Declaration
from rpx_core.errors import PluginError
from rpx_core.offers import COLLECTIONS, HOOKS, Kind
from rpx_core.specs import Spec
from rpx_core.spelling import did_you_mean


def register(declaration: Declaration) -> PluginManager:
    """Import a plugin and register it with a hook manager of its own.

    One manager per plugin: a raising implementation then cannot end another plugin's call.
    Raises PluginError for a hook or argument that does not exist, and whatever the import does.
    """
    plugin = EntryPoint(declaration.label, declaration.value, GROUP).load()
    manager = PluginManager(GROUP)
    manager.register(plugin, declaration.label)
    callers = manager.get_hookcallers(plugin) or []
    for caller in callers:
        _check_implementations(caller)
    _check_markers(plugin, declaration, {caller.name for caller in callers})
    manager.add_hookspecs(hookspecs)
    return manager


def implemented_hooks(manager: PluginManager) -> tuple[str, ...]:
    """The hooks that the plugin of this manager implements, in the order of the contract."""
    return tuple(hook for hook in HOOKS if getattr(manager.hook, hook).get_hookimpls())


def collect(manager: PluginManager, kind: Kind) -> tuple[Spec, ...]:
    """The plugin's specs of one kind; empty where it does not implement the hook.

    Raises PluginError for anything but an iterable of specs of that kind with distinct names,
    and whatever the implementation does.
    """
    hook = COLLECTIONS[kind].hook
    caller = getattr(manager.hook, hook)
    if not caller.get_hookimpls():
        return ()
    expected = f"expected an iterable of {COLLECTIONS[kind].spec.__name__}"
    results = caller()
    if not results:  # pluggy leaves None out of the results
        raise PluginError(f"{hook} returned None, {expected}")
    specs = tuple(spec for result in results for spec in _specs(result, kind))
    repeated = [name for name, count in Counter(spec.name for spec in specs).items() if count > 1]
    if repeated:
        raise PluginError(f"{hook} offers {kind} {repeated[0]!r} more than once")
    return specs


def _specs(result: object, kind: Kind) -> Iterator[Spec]:
    hook, spec_type = COLLECTIONS[kind].hook, COLLECTIONS[kind].spec
    expected = f"expected an iterable of {spec_type.__name__}"
    if isinstance(result, str | bytes) or not isinstance(result, Iterable):
        raise PluginError(f"{hook} returned {_describe(result)}, {expected}")
    for spec in result:
        if not isinstance(spec, spec_type):
            raise PluginError(f"{hook} offers {_describe(spec)}, {expected}")
        yield spec


def _check_implementations(caller: HookCaller) -> None:
    for implementation in caller.get_hookimpls():
        if caller.name not in HOOKS:
            if implementation.optionalhook:
                continue
            meant = did_you_mean(caller.name, HOOKS, most=1) or f"hooks are {', '.join(HOOKS)}"
            raise PluginError(f"unknown hook {caller.name}; {meant}")
        known = tuple(inspect.signature(getattr(hookspecs, caller.name)).parameters)
        for argument in implementation.argnames:
            if argument not in known:
                raise PluginError(
                    f"{caller.name} has no argument {argument!r}; "
                    f"it has {', '.join(known) or 'none'}"
                )


def _check_markers(plugin: object, declaration: Declaration, implemented: set[str]) -> None:
    # A forgotten @hookimpl would otherwise look like a plugin that offers nothing.
    for hook in HOOKS:
        unmarked = hook not in implemented and inspect.isroutine(getattr(plugin, hook, None))
        if unmarked and getattr(plugin, hook) is not getattr(hookspecs, hook):
            raise PluginError(f"{hook} in {declaration.value} is not marked with @hookimpl")
    if not implemented:
        raise PluginError(f"{declaration.value} implements no hook")


def _describe(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, Spec):
        return f"the {type(value).__name__} {value.name!r}"
    return f"an object of type {type(value).__name__}"
