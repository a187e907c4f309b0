"""A folder that looks like site-packages, filled with toy plugins."""

from __future__ import annotations

import importlib
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rpx_core.host import Host

PREAMBLE = """\
from rpx_core.hookspecs import hookimpl
from rpx_core.specs import AdapterSpec, DatasetSpec, MetricSpec, ModelSpec, ReporterSpec


def model(name, target="toy_model:load", tasks=("monocular_depth",)):
    return ModelSpec(name=name, summary=f"The {name} toy.", target=target, tasks=tasks)


def metric(name, tasks=("monocular_depth",)):
    return MetricSpec(name=name, summary=f"The {name} toy.", target="toy_metric:M", tasks=tasks)


"""

GOOD = """\
@hookimpl
def rpx_models():
    return [model("good")]
"""


@dataclass
class ToySite:
    """Writes dist-info folders and modules; `warnings` collects what a host of it complains of."""

    folder: Path
    warnings: list[str] = field(default_factory=list)
    core: str | None = "0.1.0"
    """Version of an rpx-core without plugins of its own; None leaves it to the environment."""

    def __post_init__(self) -> None:
        if self.core is not None:
            self.distribution("rpx-core", version=self.core)

    def plugin(self, name: str, source: str, *, version: str = "1.0", metadata: str = "") -> None:
        """A distribution with one entry point, named like its only module."""
        module = name.replace("-", "_").replace(".", "_").lower()
        self.module(module, PREAMBLE + textwrap.dedent(source))
        self.distribution(
            name, version=version, metadata=metadata, entry_points={module.split("_")[-1]: module}
        )

    def module(self, name: str, source: str) -> None:
        """A module that can be imported while the site is active."""
        (self.folder / f"{name}.py").write_text(source, encoding="utf-8")
        importlib.invalidate_caches()

    def distribution(
        self,
        name: str,
        *,
        version: str = "1.0",
        metadata: str = "",
        entry_points: Mapping[str, str] | None = None,
    ) -> Path:
        """A dist-info folder; `metadata` are further header lines."""
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        if metadata:
            lines.append(metadata)
        (info / "METADATA").write_text("\n".join(lines) + "\n\nA toy.\n", encoding="utf-8")
        if entry_points:
            points = [f"{label} = {value}" for label, value in entry_points.items()]
            text = "\n".join(["[console_scripts]", "toy = toy:main", "", "[rpx]", *points])
            (info / "entry_points.txt").write_text(text + "\n", encoding="utf-8")
        return info

    def host(self, *, strict: bool = False) -> Host:
        """A host that sees this folder alone."""
        return Host.discover(strict=strict, path=[str(self.folder)], warn=self.warn)

    @property
    def warn(self) -> Callable[[str], None]:
        """The callable that a host of this site complains to."""
        return self.warnings.append


@contextmanager
def toy_site(folder: Path) -> Iterator[ToySite]:
    """A site in an empty folder whose modules can be imported, and are forgotten afterwards."""
    with importable(folder):
        yield ToySite(folder)


@dataclass(frozen=True)
class Toys:
    """A folder of modules that are installed as one plugin, of which one is the entry point."""

    modules: Path
    distribution: str
    entry: str

    def install(self, folder: Path) -> None:
        """Put them into a new folder, as a distribution would be."""
        shutil.copytree(self.modules, folder, ignore=shutil.ignore_patterns("__pycache__"))
        site = ToySite(folder, core=None)
        site.distribution(self.distribution, entry_points={"toys": self.entry})

    @contextmanager
    def installed(self, folder: Path) -> Iterator[Host]:
        """A host that knows the plugin, also to worker processes."""
        self.install(folder)
        with importable(folder):
            yield Host.discover(path=[str(folder), *sys.path])


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """The modules of a folder can be imported, and are forgotten afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and Path(file).is_relative_to(folder):
                del sys.modules[name]
