"""The package that is checked: an installed distribution, or the folder of one that is not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from importlib_metadata import PackageNotFoundError, requires

from rpx_core.distributions import GROUP, UNKNOWN, Declaration, read_declarations
from rpx_core.documents import read_toml
from rpx_core.errors import ConfigError
from rpx_core.host import Host
from rpx_core.offers import COLLECTIONS, Kind, Offer, canonical


@dataclass(frozen=True)
class Package:
    """A plugin distribution, and where its modules are found if it is not installed."""

    distribution: str
    declarations: tuple[Declaration, ...]
    requirements: tuple[str, ...]
    """What its metadata depends on, as in `Requires-Dist`."""
    folder: Path | None = None

    @cached_property
    def host(self) -> Host:
        """All installed plugins and this one; what it complains of is a check of its own."""
        others = [d for d in read_declarations() if d.distribution != self.distribution]
        return Host([*others, *self.declarations], strict=False, warn=lambda _: None)

    def offers(self, kind: Kind) -> list[Offer[Any]]:
        """What this package offers of one kind."""
        found = self.host.offers(kind).values()
        return [offer for offer in found if offer.distribution == self.distribution]

    @property
    def count(self) -> int:
        """How many specs it offers."""
        return sum(len(self.offers(kind)) for kind in COLLECTIONS)


def open_package(reference: str | Path) -> Package:
    """The package of a name or of a folder with a `pyproject.toml`.

    The modules of a folder are importable from then on. Raises ConfigError where there is no
    plugin of that name or place.
    """
    folder = Path(reference)
    if folder.is_dir():
        return _open_folder(folder.resolve())
    name = canonical(str(reference))
    declarations = tuple(found for found in read_declarations() if found.distribution == name)
    if not declarations:
        known = sorted({found.distribution for found in read_declarations()})
        raise ConfigError(
            f"{reference} is no installed plugin, and no folder of one",
            hint=f"pip install it, or name the folder of its pyproject.toml; "
            f"installed are {', '.join(known)}",
        )
    return Package(name, declarations, _requirements(name))


def _open_folder(folder: Path) -> Package:
    project = _read_project(folder)
    name = canonical(str(project.get("name", "")))
    groups = project.get("entry-points", {})
    points = groups.get(GROUP, {}) if isinstance(groups, dict) else None
    wanted = project.get("dependencies", [])
    if not isinstance(points, dict) or not isinstance(wanted, list):
        raise ConfigError(
            f"{folder}/pyproject.toml: [project.entry-points.{GROUP}] must be a table, and "
            "dependencies a list"
        )
    if not name or not points:
        raise ConfigError(
            f"{folder}/pyproject.toml declares no plugin",
            hint=f"it needs [project] name and [project.entry-points.{GROUP}]",
        )
    _make_importable(folder)
    version = str(project.get("version", UNKNOWN))
    declarations = tuple(
        Declaration(label, str(value), name, version, editable=True)
        for label, value in sorted(points.items())
    )
    return Package(name, declarations, tuple(map(str, wanted)), folder)


def _read_project(folder: Path) -> dict[str, Any]:
    file = folder / "pyproject.toml"
    if not file.is_file():
        raise ConfigError(
            f"{folder}: there is no pyproject.toml",
            hint="name the folder that holds it, or an installed distribution",
        )
    project = read_toml(file).get("project", {})
    if not isinstance(project, dict):
        raise ConfigError(f"{file}: [project] must be a table")
    return project


def _make_importable(folder: Path) -> None:
    for place in search_path(folder):
        if place not in sys.path:
            sys.path.insert(0, place)


def search_path(folder: Path | None) -> Sequence[str]:
    """Where the modules of a package that is not installed lie."""
    if folder is None:
        return ()
    source = folder / "src"
    return (str(source if source.is_dir() else folder),)


def _requirements(name: str) -> tuple[str, ...]:
    try:
        return tuple(requires(name) or ())
    except PackageNotFoundError:
        return ()
