"""What a package says of its own checks: options that they need, and what cannot be checked.

`conformance.toml` lies in the package of the entry module, so it is there wherever the plugin is
installed, and `rpx check` and pytest read the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from rpx_core.conformance.bench import Settings
from rpx_core.conformance.laws import Check, Excuses, find_reason, idle_names
from rpx_core.conformance.package import Package
from rpx_core.documents import read_toml
from rpx_core.errors import ConfigError, PluginError, first_few
from rpx_core.offers import COLLECTIONS
from rpx_core.spelling import did_you_mean

FILE = "conformance.toml"
_ABOUT_NAMES = "options are those of a spec by its bare name; `rpx list` shows what is installed"
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Statement(BaseModel):
    """The content of `conformance.toml`; what the caller of a check says goes before it.

    `options` are those of specs by name. `explain` says of a spec why some of its checks may turn
    out impossible, `skip` why none that needs more than its import is tried; both also of all specs
    whose names match a pattern with `*`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    explain: dict[str, Reason] = Field(default_factory=dict)
    skip: dict[str, Reason] = Field(default_factory=dict)

    def complete(self, given: Settings) -> Settings:
        """The caller's settings, with these options wherever the caller gives no other."""
        names = self.options.keys() | given.options.keys()
        options = {
            name: {**self.options.get(name, {}), **given.options.get(name, {})} for name in names
        }
        return Settings(given.data, options)

    def excuse(self, given: Settings, excuses: Excuses, checks: Iterable[Check]) -> Excuses:
        """The caller's excuses and these; what the caller gives options for is not skipped."""
        wanted = {
            check.subject: reason
            for check in checks
            if given.options.keys().isdisjoint(check.names)
            and find_reason(excuses.skip, check) is None
            and (reason := find_reason(self.skip, check)) is not None
        }
        return Excuses(
            excuses.missing_extras,
            {**_attributed(wanted), **excuses.skip},
            _attributed(self.explain),
        )

    def refuse_idle(self, checks: Sequence[Check], package: Package) -> None:
        """Raise PluginError for what is said of something that is not there: it says nothing."""
        source = f"{package.distribution}: {FILE}"
        idle = idle_names({*self.skip, *self.explain}, checks)
        if idle:
            raise PluginError(
                f"{source}: nothing that is checked is called {first_few(idle, 3)}",
                hint="leave the entry out, or correct its name",
            )
        unknown = _unknown_names(self.options, package)
        if unknown:
            raise PluginError(f"{source}: options: {unknown}", hint=_ABOUT_NAMES)


def refuse_idle_options(given: Settings, package: Package) -> None:
    """Raise ConfigError for options of something that is not there: nothing would use them."""
    unknown = _unknown_names(given.options, package)
    if unknown:
        raise ConfigError(f"options: {unknown}", hint=_ABOUT_NAMES)


def _unknown_names(names: Iterable[str], package: Package) -> str | None:
    """What to say of names that no spec has, of the package or of those installed beside it."""
    known = {
        offer.spec.name for kind in COLLECTIONS for offer in package.host.offers(kind).values()
    }
    unknown = sorted(set(names) - known)
    if not unknown:
        return None
    meant = did_you_mean(unknown[0], known)
    told = f"nothing that is installed is called {first_few(unknown, 3)}"
    return f"{told}; {meant}" if meant else told


def read_statement(package: Package) -> Statement:
    """What a package says; raises PluginError where its file cannot be understood."""
    said = [_read(file, package.distribution) for file in _files(package)]
    return Statement(
        options={name: given for one in said for name, given in one.options.items()},
        explain={name: reason for one in said for name, reason in one.explain.items()},
        skip={name: reason for one in said for name, reason in one.skip.items()},
    )


def _read(file: Path, distribution: str) -> Statement:
    source = f"{distribution}: {FILE}"
    table = read_toml(file, source=source, error=PluginError)
    try:
        return Statement.model_validate(table)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise PluginError(
            f"{source}: {where}: {problem['msg']}",
            hint="it has tables [options.NAME], and [explain] and [skip] with lines "
            'NAME = "REASON"',
        ) from error


def _attributed(reasons: Mapping[str, str]) -> dict[str, str]:
    return {name: f"as the package says: {reason}" for name, reason in reasons.items()}


def _files(package: Package) -> list[Path]:
    """The files of the packages of its entry modules, none of which is imported for that."""
    tops = {found.value.partition(":")[0].partition(".")[0] for found in package.declarations}
    files = []
    for top in sorted(tops):
        spec = find_spec(top)
        folders = (spec and spec.submodule_search_locations) or ()
        files += [file for folder in folders if (file := Path(folder, FILE)).is_file()]
    return files
