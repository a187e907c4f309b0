"""What installed metadata says about plugins and pins; no plugin code is imported."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from importlib_metadata import Distribution

from rpx_core.errors import ConfigError
from rpx_core.offers import canonical

GROUP = "rpx"
CORE = "rpx-core"
UNKNOWN = "unknown"

_GROUP_HEADER = re.compile(rf"^[ \t]*\[[ \t]*{GROUP}[ \t]*\]", re.MULTILINE)
_REQUIREMENT_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
# What reading a metadata file or one of its fields can raise when the file is damaged.
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, AttributeError)


@dataclass(frozen=True)
class Declaration:
    """One entry point of the group `rpx`; `problem` is why it must not be imported, if so."""

    label: str
    value: str
    distribution: str
    version: str
    editable: bool = False
    problem: str | None = None


@dataclass(frozen=True)
class _Installed:
    """The fields of one METADATA file that matter here."""

    source: Distribution
    name: str | None
    version: str
    requires_python: str | None
    requires: tuple[str, ...]


def read_declarations(path: Sequence[str] | None = None) -> tuple[Declaration, ...]:
    """Every plugin that the folders of `path` (default `sys.path`) declare, in name order.

    Of a distribution found more than once the first is taken, like import does. Damaged
    metadata gives a declaration with a problem where it concerns a plugin, and nothing else.
    """
    core = installed_version(CORE, path=path)
    declarations = [
        declaration
        for installed in _with_plugins(path)
        for declaration in _declared_by(installed, core)
    ]
    if core is None:
        declarations.append(_core_without_metadata())
    return tuple(sorted(declarations, key=lambda found: (found.distribution, found.label)))


def installed_version(name: str, *, path: Sequence[str] | None = None) -> str | None:
    """The version that metadata gives for a distribution, or None where it is not installed."""
    installed = _find(name, path)
    return None if installed is None else installed.version


def is_editable(name: str, *, path: Sequence[str] | None = None) -> bool:
    """Whether a distribution runs from a source tree, and so can change without a version."""
    installed = _find(name, path)
    return installed is not None and _is_editable(installed.source)


def check_requires(requires: Mapping[str, str], *, path: Sequence[str] | None = None) -> None:
    """Hold the installed distributions against a configuration's `requires` table.

    Raises ConfigError that names every missing or mismatched distribution, with the version
    found and the command that installs what is asked for.
    """
    problems = []
    wanted = []
    for name, version_range in sorted(requires.items()):
        problem = _unmet(name, version_range, installed_version(name, path=path))
        if problem is not None:
            problems.append(problem)
            wanted.append(f'"{name}{version_range}"')
    if problems:
        raise ConfigError(
            f"the configuration requires {'; '.join(problems)}",
            hint=f"pip install {' '.join(wanted)}",
            details={"requires": dict(requires)},
        )


def _unmet(name: str, version_range: str, found: str | None) -> str | None:
    from packaging.specifiers import InvalidSpecifier

    try:
        met = _satisfies(found or UNKNOWN, version_range) and found is not None
    except InvalidSpecifier:
        raise ConfigError(
            f"requires.{name}: {version_range!r} is not a version range",
            hint='write one like ">=0.1,<0.2" or "==0.1.0"',
        ) from None
    if met:
        return None
    state = "it is not installed" if found is None else f"{found} is installed"
    return f"{name}{version_range}, but {state}"


def _satisfies(version: str, version_range: str) -> bool:
    from packaging.specifiers import SpecifierSet
    from packaging.version import InvalidVersion

    try:
        return SpecifierSet(version_range).contains(version, prereleases=True)
    except InvalidVersion:
        return False


def _search(path: Sequence[str] | None, name: str | None = None) -> Iterator[Distribution]:
    where = {} if path is None else {"path": list(path)}
    which = {} if name is None else {"name": name}
    return iter(Distribution.discover(**where, **which))


def _with_plugins(path: Sequence[str] | None) -> Iterator[_Installed]:
    """The distributions that declare the group, each once.

    Of the many that do not, only `entry_points.txt` is read.
    """
    nameless = []
    named: dict[str, _Installed] = {}
    for distribution in _search(path):
        if not _declares_plugins(distribution):
            continue
        installed = _read(distribution)
        if installed.name is None:
            nameless.append(installed)
        else:
            named.setdefault(installed.name, installed)
    for name, declaring in sorted(named.items()):
        # Another version, perhaps without plugins, may come first on the path.
        first = _find(name, path) or declaring
        if _declares_plugins(first.source):
            yield first
    yield from nameless


def _find(name: str, path: Sequence[str] | None) -> _Installed | None:
    # A folder without METADATA is what an interrupted uninstall leaves behind.
    return next((found for found in map(_read, _search(path, name)) if found.name), None)


def _declares_plugins(distribution: Distribution) -> bool:
    return _GROUP_HEADER.search(_text(distribution, "entry_points.txt")) is not None


def _declared_by(installed: _Installed, core: str | None) -> Iterator[Declaration]:
    if installed.name is None:
        folder = installed.source.locate_file("")
        problem: str | None = f"its METADATA, in {folder}, is missing or has no Name"
    else:
        problem = _unmet_here(installed, core)
    try:
        declared = installed.source.entry_points.select(group=GROUP)
        points = [(point.name, point.value) for point in declared]
    except _UNREADABLE as error:
        points = [(GROUP, "")]
        problem = f"its entry_points.txt cannot be read: {error}"
    for label, value in points:
        yield Declaration(
            label=label,
            value=value,
            distribution=installed.name or UNKNOWN,
            version=installed.version,
            editable=_is_editable(installed.source),
            problem=problem,
        )


def _unmet_here(installed: _Installed, core: str | None) -> str | None:
    """Why this Python or this core does not satisfy what the distribution asks for."""
    python = ".".join(map(str, sys.version_info[:3]))
    wanted = installed.requires_python
    try:
        if wanted is not None and not _satisfies(python, wanted):
            return f"requires Python {wanted}, but this is {python}"
        for line in installed.requires:
            name = _REQUIREMENT_NAME.match(line)
            if core is not None and name is not None and canonical(name[1]) == CORE:
                problem = _unmet_core(line, core)
                if problem is not None:
                    return problem
    except ValueError as error:
        return f"its METADATA cannot be read: {error}"
    return None


def _unmet_core(line: str, core: str) -> str | None:
    from packaging.requirements import Requirement

    requirement = Requirement(line)
    version_range = str(requirement.specifier)
    applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    if applies and not _satisfies(core, version_range):
        return f"requires {CORE}{version_range}, but {core} is installed"
    return None


def _core_without_metadata() -> Declaration:
    source = Path(__file__).resolve().parents[1]
    return Declaration(
        label="core",
        value="rpx_core.builtin",
        distribution=CORE,
        version=UNKNOWN,
        problem=(
            f"{CORE} runs from {source} without being installed, so nothing that it offers "
            f"can be found; run: pip install -e {source}"
        ),
    )


def _read(distribution: Distribution) -> _Installed:
    try:
        metadata = distribution.metadata
        name = metadata.get("Name")
        return _Installed(
            source=distribution,
            name=None if name is None else canonical(name.strip()) or None,
            version=(metadata.get("Version") or UNKNOWN).strip(),
            requires_python=metadata.get("Requires-Python"),
            requires=tuple(metadata.get_all("Requires-Dist") or distribution.requires or ()),
        )
    except _UNREADABLE:
        return _Installed(distribution, None, UNKNOWN, None, ())


def _is_editable(distribution: Distribution) -> bool:
    try:
        origin = json.loads(_text(distribution, "direct_url.json") or "{}")
        return origin.get("dir_info", {}).get("editable") is True
    except _UNREADABLE:
        return False


def _text(distribution: Distribution, file: str) -> str:
    try:
        return distribution.read_text(file) or ""
    except _UNREADABLE:
        return ""
