"""Writing a skeleton: from a kind and a name to a folder that is there as a whole or not at all."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from rpx_core.contracts import TaskType
from rpx_core.distributions import installed_version
from rpx_core.errors import ConfigError
from rpx_core.skeletons.catalogue import CORE, KINDS, TASKS, Skeleton, templates

NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
LONGEST_NAME = 30

_TEST_TOOLS = ("mypy>=1.18", "pytest>=8.3", "ruff>=0.12")


@dataclass(frozen=True)
class Order:
    """What is to be written: a kind of plugin, its name, the task it is for, and where to."""

    kind: str
    name: str
    task: str
    output: Path

    @property
    def distribution(self) -> str:
        """What is installed with pip."""
        return f"rpx-{self.name}"

    @property
    def package(self) -> str:
        """What is imported."""
        return self.distribution.replace("-", "_")

    @property
    def folder(self) -> Path:
        """Where everything is written."""
        return self.output / self.distribution


def write_skeleton(kind: str, name: str, output: Path, *, task: str | None = None) -> Path:
    """Write a new plugin package below a folder; returns its own folder.

    Raises ConfigError for a name that cannot be one, a task that there is no skeleton for, and
    where something is in the way: nothing is ever overwritten.
    """
    order = _check(kind, name, output, task)
    files = dict(render_skeleton(order))
    try:
        output.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{order.distribution}-", dir=output))
    except OSError as error:
        raise ConfigError(f"{output} cannot be written: {error.strerror or error}") from error
    try:
        for path, text in files.items():
            place = scratch / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        scratch.chmod(0o755)
        _refuse_existing(order)
        scratch.rename(order.folder)
    except OSError as error:
        raise ConfigError(f"{order.folder} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return order.folder


def render_skeleton(order: Order) -> Iterator[tuple[str, str]]:
    """The files of a skeleton: their paths in the new folder, and what they hold."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=False,  # Python and TOML, of checked names
    )
    values = _values(order)
    for folder in dict.fromkeys(("common", f"{order.kind}/any", f"{order.kind}/{order.task}")):
        for path, template in _files(templates(folder), PurePosixPath()):
            text = template.read_text(encoding="utf-8")
            yield _place(path, order), environment.from_string(text).render(values)


def _check(kind: str, name: str, output: Path, task: str | None) -> Order:
    skeleton = KINDS[kind]
    if name.startswith("rpx-"):
        own = name.removeprefix("rpx-")
        raise ConfigError(f"name {name!r}: rpx- comes by itself", hint=f"rpx new {kind} {own}")
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise ConfigError(
            f"name {name!r} is not allowed",
            hint=f"at most {LONGEST_NAME} lower-case letters and digits, with single hyphens "
            "between words, as in my-model",
        )
    order = Order(kind, name, _choose_task(skeleton, task), output)
    if kind == "task" and name.replace("-", "_") in set(TaskType):
        raise ConfigError(f"the task {name.replace('-', '_')} exists", hint="choose another name")
    if order.distribution in _known() or installed_version(order.distribution) is not None:
        raise ConfigError(
            f"{order.distribution} exists: a second one could not be installed beside it",
            hint="choose another name",
        )
    _refuse_existing(order)
    return order


def _choose_task(skeleton: Skeleton, task: str | None) -> str:
    if not skeleton.tasks:
        if task is not None:
            raise ConfigError(f"a {skeleton.kind} is not for one task", hint="leave --task out")
        return "any"
    chosen = task or skeleton.tasks[0]
    if chosen not in skeleton.tasks:
        raise ConfigError(
            f"there is no skeleton of a {skeleton.kind} for {chosen}",
            hint=f"there are for {', '.join(skeleton.tasks)}; begin with one of them",
        )
    return chosen


def _known() -> set[str]:
    import rpx_core

    return {owner for owner, _ in rpx_core.PUBLISHED.values()} | set(TASKS.values())


def _refuse_existing(order: Order) -> None:
    if order.folder.exists() or order.folder.is_symlink():
        raise ConfigError(
            f"{order.folder} exists already",
            hint="nothing is overwritten: choose another name or --output",
        )


def _values(order: Order) -> Mapping[str, object]:
    skeleton = KINDS[order.kind]
    owner = TASKS.get(order.task)
    needed = [f"{owner}>=0.1,<0.2"] if owner else []
    own = ["numpy>=1.26", "pydantic>=2.7"] if skeleton.computes else []
    # What only names a task, or serves it with data, needs its plugin for tests alone.
    runtime, test = (needed, []) if skeleton.imports_task else ([], needed)
    facts = {
        "kind": order.kind,
        "name": order.name,
        "snake": order.name.replace("-", "_"),
        "task": order.task,
        "owner": (owner or CORE).replace("-", "_"),
        "distribution": order.distribution,
        "package": order.package,
    }
    return MappingProxyType(
        {
            **facts,
            "description": skeleton.description.format(**facts),
            "usage": skeleton.usage.format(**facts),
            "dependencies": sorted([*own, f"{CORE}>=0.1,<0.2", *runtime]),
            "test_dependencies": sorted([*_TEST_TOOLS, *test, *skeleton.tests_with]),
        }
    )


def _files(
    folder: Traversable, place: PurePosixPath
) -> Iterator[tuple[PurePosixPath, Traversable]]:
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, place / entry.name)
        elif entry.name.endswith(".jinja"):
            yield place / entry.name, entry


def _place(path: PurePosixPath, order: Order) -> str:
    """Where a template's file goes: `package` and `name` are the new ones, `dot-` is a dot."""
    parts = [order.package if part == "package" else part for part in path.parts]
    parts = [f".{part[4:]}" if part.startswith("dot-") else part for part in parts]
    parts = [re.sub(r"^name\b", order.name, part) for part in parts]
    return "/".join(parts).removesuffix(".jinja")
