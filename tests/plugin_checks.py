"""What each plugin of this repository is checked for: light to import, and every name leads on."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from functools import cached_property
from types import MappingProxyType, ModuleType
from typing import Any

from pydantic import BaseModel

from rpx_core.config import RunConfig
from rpx_core.contracts import Task
from rpx_core.host import load_target
from rpx_core.offers import COLLECTIONS, Kind, Offer
from rpx_core.parts import resolve_part
from rpx_core.protocols import Protocol, load_protocol
from rpx_core.specs import ProtocolSpec, Spec, TaskSpec

HEAVY = frozenset({"PIL", "cv2", "numpy", "poselib", "pydantic", "scipy", "skimage", "torch"})


class Offered:
    """The specs that the entry module of one plugin returns."""

    def __init__(self, entry: ModuleType) -> None:
        self._entry = entry
        hooks = {kind: collection.hook for kind, collection in COLLECTIONS.items()}
        self.hooks = {kind: hook for kind, hook in hooks.items() if hasattr(entry, hook)}
        self.specs = MappingProxyType(
            {kind: tuple(getattr(entry, hook)()) for kind, hook in self.hooks.items()}
        )

    @property
    def targets(self) -> list[Spec]:
        """The specs that name something to import: all but protocols."""
        return [spec for kind, specs in self.specs.items() if kind != "protocol" for spec in specs]

    @property
    def tasks(self) -> tuple[TaskSpec, ...]:
        return self.specs["task"]

    @cached_property
    def protocols(self) -> dict[str, Protocol]:
        """Every protocol, read."""
        return {
            spec.name: load_protocol(self._offer(spec)) for spec in self.specs.get("protocol", ())
        }

    def find(self, kind: Kind, name: str) -> Any:
        """The only spec of this kind and name."""
        (spec,) = (spec for spec in self.specs[kind] if spec.name == name)
        return spec

    def build(self, spec: Spec, **options: Any) -> Any:
        """What a spec names, built as a run builds it."""
        return resolve_part(self._offer(spec), options, field_name="options").build()

    def heavy_imports(self) -> set[str]:
        """What heavy modules a process has imported once it has all specs."""
        name = self._entry.__name__
        calls = "; ".join(f"list(entry.{hook}())" for hook in self.hooks.values())
        return heavy_imports(f"import {name} as entry; {calls}")

    def check_task(self, task: TaskSpec) -> None:
        """A task is one, and runs on what the plugin itself offers for it, without extras."""
        target = load_target(task.target, wanted_by=task.name)
        assert issubclass(target, Task)
        assert not inspect.isabstract(target)
        assert pickle.loads(pickle.dumps(task)) == task
        baseline = self.find("model", task.baseline)
        assert (baseline.extra, baseline.modules) == (None, ())
        used = [baseline, *(self.find("metric", name) for name in task.metrics.values())]
        if task.adapter:
            used.append(self.find("adapter", task.adapter))
        for name in task.stability.values():
            metric = self.find("metric", name)
            used.append(metric)
            built = self.build(metric)
            assert (built.unit, built.outputs["ts"].better) == ("pair", "higher")
        for spec in used:
            assert task.name in spec.tasks, spec.name
        label, output = task.primary.split(".")
        assert output in self.build(self.find("metric", task.metrics[label])).outputs

    def check_protocol(self, protocol: Protocol) -> RunConfig:
        """A protocol is a configuration of what the plugin offers; it departs from nothing."""
        config = RunConfig.model_validate({"task": protocol.task, **protocol.layer})
        self.build(self.find("task", protocol.task.split("/")[-1]), **config.options)
        for metric in config.metrics.values():
            self.build(self.find("metric", metric.name.split("/")[-1]), **metric.options)
        assert protocol.departures(config) == ()
        return config

    def _offer(self, spec: Any) -> Offer[ProtocolSpec]:
        distribution = self._entry.__name__.partition(".")[0].replace("_", "-")
        return Offer(spec, distribution, "0.1.0", True)


def check_target(spec: Spec) -> None:
    """A spec names something that can be called, and options that refuse what they do not know."""
    assert callable(load_target(spec.target, wanted_by=spec.name))
    target = getattr(spec, "options", None)
    if target is None:
        return
    options = load_target(target, wanted_by=spec.name)
    assert issubclass(options, BaseModel)
    assert (options.model_config.get("frozen"), options.model_config.get("extra")) == (
        True,
        "forbid",
    )
    assert inspect.getdoc(options)


def check_published(published: ModuleType, distribution: str) -> None:
    """Published names are there, documented, and where core looks for those of a distribution."""
    import rpx_core

    offered = {name for name, (owner, _) in rpx_core.PUBLISHED.items() if owner == distribution}
    assert offered <= set(published.__all__)
    for name in published.__all__:
        assert inspect.getdoc(getattr(published, name)), name
    for name in offered:
        assert getattr(rpx_core, name) is getattr(published, name)


def heavy_imports(code: str) -> set[str]:
    """What heavy modules a fresh process has imported once it has run the code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return HEAVY & set(done.stdout.split())


def name_of(named: Any) -> str:
    """The name of a spec or protocol, for the ids of tests."""
    return str(named.name)
