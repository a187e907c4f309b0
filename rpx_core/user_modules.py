"""Importing a user's own function, and the digests of the files that it is made of.

What runs is what is digested: the bytes of a file are read once, never taken from a stale cache,
and what this module has imported is imported again when one of its files has changed.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from rpx_core.errors import ConfigError
from rpx_core.identity import digest_of, file_digest
from rpx_core.isolation import import_user_code

_INSTALLED = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True)
class UserCode:
    """An imported module: `files` are the digests of it and of what it uses beside it, by path."""

    module: ModuleType
    source: Path
    files: Mapping[str, str]
    imported: frozenset[str]
    """Names of the modules of its folder that came with it."""

    @property
    def digest(self) -> str:
        """What stands for the code in the identity of a run; where it lies does not count."""
        (own,) = (digest for path, digest in self.files.items() if path == str(self.source))
        beside = {
            Path(path).relative_to(self.source.parent).as_posix(): digest
            for path, digest in self.files.items()
            if path != str(self.source)
        }
        return digest_of({"": own, **beside}) if beside else own

    def attribute(self, name: str) -> Any:
        """One of its names; raises ConfigError with those it has."""
        # A module may have a `__getattr__` of its own, which may raise anything.
        found = import_user_code(
            f"{self.source.name}:{name}", partial(getattr, self.module, name, _MISSING)
        )
        if found is not _MISSING:
            return found
        names = [
            name
            for name, value in vars(self.module).items()
            if callable(value)
            and not name.startswith("_")
            and getattr(value, "__module__", None) == self.module.__name__
        ]
        raise ConfigError(
            f"{self.source.name} has no {name!r}",
            hint=f"it defines: {', '.join(names) or 'nothing'}",
        )

    def changed(self, planned: Mapping[str, str]) -> list[str]:
        """The files that no longer hold what they did when these digests were taken."""
        return [
            path
            for path, digest in planned.items()
            if (self.files.get(path) or _digest_now(path)) != digest
        ]


_MISSING = object()
_known: dict[str, UserCode] = {}


def import_code(place: str) -> UserCode:
    """Import `module` or `file.py`; raises ConfigError for whatever goes wrong in it."""
    _forget_changed()
    name = f"rpx_user_{Path(place).stem}" if place.endswith(".py") else place
    known = _known.get(name)
    same = not place.endswith(".py") or (known and known.source == Path(place).resolve())
    if known is not None and same and sys.modules.get(name) is known.module:
        return known
    if known is not None:
        _forget(name)
    before = set(sys.modules)
    with _without_bytecode():
        if place.endswith(".py"):
            module, source, own = _import_file(name, Path(place))
        else:
            module, source, own = _import_module(name)
    imported = _beside(source.parent, set(sys.modules) - before)
    paths = {*_mentioned(source), *imported.values()} - {source}
    files = {str(source): own, **{str(path): file_digest(path) for path in sorted(paths)}}
    _known[name] = UserCode(module, source, files, frozenset(imported))
    return _known[name]


def _import_file(name: str, path: Path) -> tuple[ModuleType, Path, str]:
    if not path.is_file():
        raise ConfigError(f"{path}: no such file", hint="--model FILE.py:FUNCTION")
    path = path.resolve()
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ConfigError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    content = path.read_bytes()
    # Sibling modules import as they do when the file runs as a script.
    _search(path.parent)
    # Dataclasses look their own module up while it is being imported.
    sys.modules[name] = module
    try:
        import_user_code(f"import of {path.name}", partial(_execute, content, path, module))
    except ConfigError:
        del sys.modules[name]
        raise
    return module, path, f"sha256:{hashlib.sha256(content).hexdigest()}"


def _execute(content: bytes, path: Path, module: ModuleType) -> None:
    exec(compile(content, str(path), "exec", dont_inherit=True), vars(module))


def _import_module(name: str) -> tuple[ModuleType, Path, str]:
    # A user's own module is found from where the command is typed, as `python -m` would.
    _search(Path.cwd())
    load: Callable[[], ModuleType] = partial(importlib.import_module, name)
    module = import_user_code(f"import of {name}", load)
    if getattr(module, "__file__", None) is None:
        raise ConfigError(f"module {name!r} has no source file to identify it by")
    source = Path(str(module.__file__)).resolve()
    return module, source, file_digest(source)


def _search(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


@contextmanager
def _without_bytecode() -> Iterator[None]:
    """A cached module counts as current for a second: one that was edited at once would be old."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _forget_changed() -> None:
    for name, code in list(_known.items()):
        if any(_digest_now(path) != was for path, was in code.files.items()):
            _forget(name)


def _forget(name: str) -> None:
    for module in (name, *_known.pop(name).imported):
        sys.modules.pop(module, None)


def _digest_now(path: str) -> str | None:
    try:
        return file_digest(Path(path))
    except OSError:
        return None


def _beside(folder: Path, names: set[str]) -> dict[str, Path]:
    """Those of the modules that are the user's own: their files lie in the folder."""
    found = {}
    for name in names:
        file = getattr(sys.modules.get(name), "__file__", None)
        path = Path(file).resolve() if isinstance(file, str) else None
        if path is not None and path.is_file() and _is_own(path, folder):
            found[name] = path
    return found


def _is_own(path: Path, folder: Path) -> bool:
    if not path.is_relative_to(folder) or path.is_relative_to(Path(__file__).resolve().parent):
        return False
    return not _INSTALLED.intersection(path.relative_to(folder).parts)


def _mentioned(source: Path) -> set[Path]:
    """The files in the folder that import statements mean, and those in turn, wherever they stand.

    Whether a module is new in this process is chance: it may have been imported before, or will
    be only when a function is called.
    """
    found: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        found.add(path)
        waiting += [one for one in _imports(path, source.parent) if one not in found]
    return found


def _imports(path: Path, folder: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError, MemoryError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names, base = [alias.name for alias in node.names], folder
        elif isinstance(node, ast.ImportFrom):
            start = f"{node.module}." if node.module else ""
            names = [f"{start}{alias.name}" for alias in node.names]
            if node.level > len(path.parents):
                continue
            base = path.parents[node.level - 1] if node.level else folder
        else:
            continue
        for name in names:
            parts = name.split(".")
            for length in range(1, len(parts) + 1):
                module = base.joinpath(*parts[:length])
                for file in (module.with_name(f"{module.name}.py"), module / "__init__.py"):
                    if file.is_file() and _is_own(file.resolve(), folder):
                        yield file.resolve()
