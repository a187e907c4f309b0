"""What holds for a package and its entry modules: light, silent, sound, and pinned."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from rpx_core.conformance.laws import Check, ConformanceError, require
from rpx_core.conformance.package import Package, search_path
from rpx_core.distributions import CORE
from rpx_core.offers import COLLECTIONS, Status, canonical

HEAVY = frozenset(
    {
        *("PIL", "cv2", "huggingface_hub", "jax", "matplotlib", "numpy", "pandas", "poselib"),
        *("pyarrow", "pydantic", "ray", "scipy", "skimage", "sklearn", "tensorflow", "timm"),
        *("torch", "torchvision", "transformers"),
    }
)
"""Modules that take longer to import than `rpx list` may take as a whole."""
BUDGET_S = 0.1
_ATTEMPTS = 15
_TIMEOUT_S = 120

# The budget is that of the plugin: what core needs to read it is imported before.
_PROBE = """
import json, sys, time
import rpx_core.hookspecs
before = time.perf_counter()
import importlib
entry = importlib.import_module({module!r})
for part in {attributes!r}:
    entry = getattr(entry, part)
for hook in {hooks!r}:
    if hasattr(entry, hook):
        list(getattr(entry, hook)())
seconds = time.perf_counter() - before
with open({report!r}, "w") as file:
    json.dump({{"seconds": seconds, "modules": sorted(sys.modules)}}, file)
"""


def heavy_imports(code: str) -> set[str]:
    """What heavy modules a fresh process has imported once it has run the code."""
    done = _run(f"{code}\nimport sys\nprint(*sys.modules)", ())
    if done.returncode:
        raise ConformanceError(f"{code!r} fails: {done.stderr.strip()}")
    return set(HEAVY.intersection(done.stdout.split()))


@dataclass(frozen=True)
class _Import:
    """What a fresh process has printed, imported and waited for once it has all specs."""

    printed: str
    modules: frozenset[str]
    seconds: float


class EntryModule:
    """One entry point, imported in fresh processes; the first answers all but the time."""

    def __init__(self, value: str, folder: Path | None) -> None:
        self._value = value
        self._folder = folder

    @cached_property
    def _first(self) -> _Import:
        return self._import()

    def check_silent(self) -> None:
        """Raise ConformanceError for anything printed: stdout belongs to the command."""
        printed = self._first.printed
        require(not printed, f"importing {self._value} prints {printed[:200]!r}")

    def check_light(self) -> None:
        """Raise ConformanceError for a heavy module."""
        heavy = sorted({name.partition(".")[0] for name in self._first.modules} & HEAVY)
        require(
            not heavy,
            f"importing {self._value} imports {', '.join(heavy)}",
            hint="name targets as 'module:attribute'; import libraries where they are used",
        )

    def check_quick(self) -> None:
        """Raise ConformanceError when the quickest of several imports is beyond the budget."""
        seconds = self._first.seconds
        for _ in range(_ATTEMPTS - 1):
            if seconds <= BUDGET_S:
                return
            # On a busy machine any one import may be slow.
            seconds = min(seconds, self._import().seconds)
        require(
            seconds <= BUDGET_S,
            f"importing {self._value} takes {seconds * 1000:.0f} ms; {BUDGET_S * 1000:.0f} are "
            "allowed",
            hint=f"see what takes long with python -X importtime -c 'import {self._value}'",
        )

    def _import(self) -> _Import:
        module, _, attribute = self._value.partition(":")
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch, "report.json")
            code = _PROBE.format(
                module=module,
                attributes=[part for part in attribute.split(".") if part],
                hooks=[collection.hook for collection in COLLECTIONS.values()],
                report=str(report),
            )
            done = _run(code, search_path(self._folder))
            if done.returncode or not report.is_file():
                last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
                raise ConformanceError(f"importing {self._value} in a fresh process fails: {last}")
            found = json.loads(report.read_text(encoding="utf-8"))
        printed = done.stdout + done.stderr
        return _Import(printed, frozenset(found["modules"]), float(found["seconds"]))


def _run(code: str, path: Sequence[str]) -> subprocess.CompletedProcess[str]:
    python_path = os.pathsep.join([*path, *sys.path])
    try:
        return subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": python_path},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ConformanceError(f"the import takes longer than {_TIMEOUT_S} s") from None


def package_checks(package: Package) -> Iterator[Check]:
    """The laws of a distribution and of each of its entry points."""
    subject = f"package {package.distribution}"

    def check_sound() -> None:
        for plugin in package.host.plugins:
            if plugin.distribution == package.distribution and plugin.status is Status.BROKEN:
                raise ConformanceError(f"{plugin} is broken: {plugin.problem}")

    yield Check(subject, "every entry point is accepted by the host", check_sound, gate=True)
    yield Check(
        subject,
        "it offers something",
        lambda: require(package.count, f"{package.distribution} offers nothing"),
    )
    yield Check(subject, "it says which rpx-core it works with", lambda: check_requires(package))
    for declaration in package.declarations:
        entry = EntryModule(declaration.value, package.folder)
        where = f"entry {declaration.value}"
        yield Check(where, "importing it prints nothing", entry.check_silent)
        yield Check(where, "importing it imports nothing heavy", entry.check_light)
        yield Check(where, "importing it is quick", entry.check_quick)


def check_requires(package: Package) -> None:
    """Raise ConformanceError unless the metadata bounds rpx-core on both sides."""
    if package.distribution == CORE:
        return
    for line in package.requirements:
        try:
            requirement = Requirement(line)
        except InvalidRequirement as error:
            raise ConformanceError(f"dependency {line!r} cannot be read: {error}") from error
        if canonical(requirement.name) == CORE and requirement.marker is None:
            bounds = {bound.operator for bound in requirement.specifier}
            require(
                bounds & {">=", "==", "~=", ">"} and bounds & {"<", "<=", "==", "~="},
                f"{line!r} leaves {CORE} open",
                hint=f'write "{CORE}>=0.1,<0.2": a later core may ask for more',
            )
            return
    raise ConformanceError(
        f"the metadata of {package.distribution} does not depend on {CORE}",
        hint=f'add "{CORE}>=0.1,<0.2" to [project] dependencies',
    )
