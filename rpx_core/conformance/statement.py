"""What a package says of its own checks: options that they need, and what cannot be checked.

`conformance.toml` lies in the package of the entry module, so it is there wherever the plugin is
installed, and `rpx check` and pytest read the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from rpx_core.conformance.bench import Settings
from rpx_core.conformance.laws import Check, Excuses, subject_names
from rpx_core.conformance.package import Package
from rpx_core.documents import read_toml
from rpx_core.errors import PluginError, first_few

FILE = "conformance.toml"
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Statement(BaseModel):
    """The content of `conformance.toml`; what the caller of a check says goes before it.

    `options` are those of specs by name. `explain` says of a spec why some of its checks may turn
    out impossible, `skip` why none that needs more than its import is tried.
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

    def excuse(self, given: Settings, excuses: Excuses) -> Excuses:
        """The caller's excuses and these; what the caller gives options for is not skipped."""
        wanted = {
            name: reason
            for name, reason in self.skip.items()
            if name.rpartition(" ")[2] not in given.options
        }
        return Excuses(
            excuses.missing_extras,
            {**_attributed(wanted), **excuses.skip},
            _attributed(self.explain),
        )

    def refuse_idle(self, checks: Iterable[Check], distribution: str) -> None:
        """Raise PluginError for a reason of something that is not checked: it explains nothing."""
        idle = sorted({*self.skip, *self.explain} - subject_names(checks))
        if idle:
            raise PluginError(
                f"{distribution}: {FILE}: nothing that is checked is called {first_few(idle, 3)}",
                hint="leave the entry out, or correct its name",
            )


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
