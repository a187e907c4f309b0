"""Finding the torch modules that a model holds, without importing torch for one that holds none."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType, MethodType, ModuleType
from typing import Any

MAX_DEPTH = 4
MAX_VISITED = 10_000
NO_TORCH = "the model does not use torch"
NO_MODULE = "no torch module was found on the model; give it a `module` attribute that holds it"

_PLAIN = (str, bytes, int, float, complex, type(None), type, ModuleType)


def loaded_torch() -> Any | None:
    """The torch module if something in this process has imported it."""
    return sys.modules.get("torch")


def find_modules(model: object) -> tuple[Any, ...]:
    """The outermost torch modules of a model, each once.

    `model.module` says which they are: a module, or a list or mapping of them; a function may have
    such an attribute too. Without it they are looked for in the attributes of the model, of what
    it holds, and in what its functions refer to.
    """
    torch = loaded_torch()
    if torch is None:
        return ()
    kind = torch.nn.Module
    if isinstance(model, kind):
        return (model,)
    declared = getattr(model, "module", None)
    start = model if declared is None else declared
    return tuple(_walk(start, kind))


def _walk(start: object, kind: type) -> Iterator[Any]:
    level, seen = [start], {id(start)}
    for _ in range(MAX_DEPTH + 1):
        below = []
        for one in level:
            if isinstance(one, kind):
                yield one
                continue
            for part in _parts(one):
                if id(part) not in seen and not isinstance(part, _PLAIN):
                    seen.add(id(part))
                    below.append(part)
        if len(seen) > MAX_VISITED:
            return
        level = below


def _parts(one: object) -> Iterator[object]:
    """What an object holds or refers to; its `module` alone where it has one."""
    declared = getattr(one, "__dict__", {}).get("module")
    match one:
        case _ if declared is not None:
            yield declared
        case list() | tuple() | set() | frozenset():
            yield from one
        case Mapping():
            yield from one.values()
        case MethodType():
            yield from (one.__self__, one.__func__)
        case functools.partial():
            yield from (one.func, *one.args, *one.keywords.values())
        case FunctionType():
            yield from _referred(one)
        case _:
            yield from getattr(one, "__dict__", {}).values()


def _referred(function: FunctionType) -> Iterator[object]:
    """What a function closes over, its defaults, and the globals that its code names."""
    yield from (cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell))
    yield from function.__defaults__ or ()
    names = function.__globals__
    yield from (names[name] for name in function.__code__.co_names if name in names)
    if hasattr(function, "__wrapped__"):
        yield function.__wrapped__


def _is_filled(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True
