"""Testing plugins with pytest: the checks of `rpx check` as tests, and fixtures to run things.

In `conftest.py`: `pytest_plugins = ["rpx_core.testing"]`. In a test module:

    @pytest.mark.parametrize("check", conformance("rpx-mine"), ids=str)
    def test_conformance(check):
        check()

The check functions hold a single object to the laws of its kind, on data of your own:
`check_metric`, `check_model`, `check_task`, `check_reporter`. Those of one law each serve property
tests: `check_storage`, `check_order`, `check_split`. Importing this imports nothing heavy.
"""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rpx_core.conformance.entry import heavy_imports
    from rpx_core.conformance.laws import ConformanceError
    from rpx_core.conformance.metric_laws import (
        ROUNDING,
        check_metric,
        check_order,
        check_perfect,
        check_split,
        check_storage,
        defined,
        measure_all,
        values_of,
    )
    from rpx_core.conformance.models import check_model
    from rpx_core.conformance.reporters import check_reporter
    from rpx_core.conformance.results import null_results, sample_results
    from rpx_core.conformance.tasks import check_task
    from rpx_core.contracts import Sample
    from rpx_core.testing.plan import PlannedCheck

__all__ = [
    "ROUNDING",
    "ConformanceError",
    "check_metric",
    "check_model",
    "check_order",
    "check_perfect",
    "check_reporter",
    "check_split",
    "check_storage",
    "check_task",
    "conformance",
    "defined",
    "heavy_imports",
    "measure_all",
    "null_results",
    "sample_results",
    "values_of",
]

_PLACES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "entry": ("heavy_imports",),
        "laws": ("ConformanceError",),
        "metric_laws": (
            *("ROUNDING", "check_metric", "check_order", "check_perfect", "check_split"),
            *("check_storage", "defined", "measure_all", "values_of"),
        ),
        "models": ("check_model",),
        "reporters": ("check_reporter",),
        "results": ("null_results", "sample_results"),
        "tasks": ("check_task",),
    }
)


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(importlib.import_module(f"rpx_core.conformance.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def conformance(
    package: str | Path,
    *,
    allow_missing_extras: bool = False,
    data: Sequence[str] = (),
    options: Mapping[str, Mapping[str, Any]] | None = None,
    skip: Mapping[str, str] | None = None,
) -> list[PlannedCheck]:
    """The checks of `rpx check` on a package, each to be called by a test of its own.

    `package` is a distribution's name or the folder of its `pyproject.toml`. `options` are those
    of specs by name, `skip` reasons by the name of what is not to be checked; what the package says
    in its `conformance.toml` stands behind both. A check that cannot be made fails, unless it is
    skipped, explained there, or only lacks an extra and that is allowed.
    """
    from rpx_core.testing.plan import plan

    return plan(
        package,
        allow_missing_extras=allow_missing_extras,
        data=data,
        options=options or {},
        skip=skip or {},
    )


@pytest.fixture(scope="session")
def rpx_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manifest of one generated scene: 3 phases of 6 frames, with the keys of most tasks."""
    from rpx_core.demo import write_demo_scene

    return write_demo_scene(tmp_path_factory.mktemp("rpx-demo"))


@pytest.fixture
def rpx_samples(rpx_demo: Path) -> Callable[..., list[Sample]]:
    """Load a few samples of an installed task, with their ground truth: `rpx_samples(task)`.

    `data` is a manifest or dataset instead of the demo scene, `options` are those of the task.
    """

    def load(
        task: str, *, data: str | None = None, options: Mapping[str, Any] | None = None
    ) -> list[Sample]:
        from rpx_core.conformance.bench import Bench, Settings
        from rpx_core.host import Host

        host = Host.discover()
        offer = host.find("task", task)
        given = {offer.spec.name: options or {}}
        settings = Settings(data=(data or str(rpx_demo),), options=given)
        return Bench(host, settings).recording(offer).samples

    return load


@pytest.fixture
def rpx_command(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Run a command in this process: `rpx_command("run", "--model", "mine", ...)`.

    Returns what it prints under `--json`. Runs are written below the test's temporary folder. An
    exit code other than `expect` fails the test with what the command said.
    """

    def run(verb: str, *arguments: str, expect: int = 0) -> dict[str, Any]:
        from rpx_core.cli import invoke

        written = ("--output", str(tmp_path / "runs")) if verb in {"run", "score"} else ()
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = invoke([verb, *arguments, *written, "--json"])
        document: dict[str, Any] = json.loads(printed.getvalue() or "{}")
        if code != expect:
            pytest.fail(f"rpx {verb} ended with {code}, not {expect}: {document.get('error')}")
        return document

    return run
