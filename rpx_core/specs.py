"""What plugins hand over: inert descriptions, a name and an import string.

Nothing here imports numpy, pydantic or a plugin's code: listing what is installed must stay
cheap. A target is `"package.module:attribute"` and is imported by the worker that needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

from rpx_core.errors import PluginError

NAME_PATTERN = re.compile(r"[a-z0-9_.-]+")
TARGET_PATTERN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
RESOURCE_PATTERN = re.compile(r"[A-Za-z_][\w.]*:[\w./-]+")


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


_FITS: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        "str": lambda value: isinstance(value, str),
        "str | None": lambda value: value is None or isinstance(value, str),
        "bool": lambda value: isinstance(value, bool),
        "tuple[str, ...]": _are_texts,
        "tuple[tuple[str, ...], ...]": lambda value: (
            isinstance(value, tuple) and all(map(_are_texts, value))
        ),
        "Mapping[str, str]": lambda value: (
            isinstance(value, Mapping)
            and all(isinstance(one, str) for item in value.items() for one in item)
        ),
    }
)
"""Whether a value is what the annotation of a field says."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What every spec has: a name, one line for `rpx list`, and where the code is."""

    name: str
    summary: str
    target: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME_PATTERN.fullmatch(self.name):
            raise PluginError(
                f"{type(self).__name__} name {self.name!r} is not allowed; "
                f"names match {NAME_PATTERN.pattern}"
            )
        if not isinstance(self.summary, str) or not self.summary:
            raise PluginError(f"{type(self).__name__} {self.name}: summary must be one line")
        self._refuse_other_types()
        self._refuse_control_characters()
        self._refuse_parts_of_modules()
        pattern = self._target_pattern()
        if not isinstance(self.target, str) or not pattern.fullmatch(self.target):
            raise PluginError(
                f"{type(self).__name__} {self.name}: target {self.target!r} must look like "
                "'package.module:attribute'"
            )

    def _refuse_other_types(self) -> None:
        """What is not as declared would break commands that do not even use this spec."""
        for declared in fields(self):
            value = getattr(self, declared.name)
            if not _FITS[str(declared.type)](value):
                raise PluginError(
                    f"{type(self).__name__} {self.name}: {declared.name} is {value!r:.80}; "
                    f"{declared.type} was expected"
                )

    def _refuse_control_characters(self) -> None:
        """Every text of a spec is printed on terminals, which it must not steer."""
        for field_name in self.__dataclass_fields__:
            for text in _texts(getattr(self, field_name)):
                if not text.isprintable():
                    raise PluginError(
                        f"{type(self).__name__} {self.name}: {field_name} {text!r} holds a line "
                        "break or control character; write one line of plain text"
                    )

    def _refuse_parts_of_modules(self) -> None:
        """Looking for a part of a module would import the module, however heavy."""
        for module in getattr(self, "modules", ()):
            if not module.isidentifier():
                raise PluginError(
                    f"{type(self).__name__} {self.name}: modules {module!r} is no top-level "
                    "module; write the first part of what is imported"
                )

    @staticmethod
    def _target_pattern() -> re.Pattern[str]:
        return TARGET_PATTERN


@dataclass(frozen=True, kw_only=True)
class TaskSpec(Spec):
    """A task. The target is a `Task` class, built with its options.

    `metrics` maps a label (the journal key and first part of an output's address) to a metric
    name; these run by default. `primary` is the address of the headline output, such as
    `depth.absrel`. `requires` are the record keys that a sample of this task must have, `assets`
    the further keys that it understands. `adapter` wraps a bare Python function into a model.
    """

    metrics: Mapping[str, str]
    primary: str
    baseline: str
    requires: tuple[str, ...]
    assets: tuple[str, ...] = ()
    alignments: tuple[str, ...] = ("none",)
    adapter: str | None = None
    options: str | None = None
    stability: Mapping[str, str] = field(default_factory=dict)
    """By readiness rules, the pair metric whose output `ts` is this task's temporal stability; it
    runs under the label `stability`. Without one, temporal stability is undefined."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("metrics", "stability"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if self.primary.split(".")[0] not in self.metrics:
            raise PluginError(
                f"TaskSpec {self.name}: primary {self.primary!r} must start with one of its "
                f"metric labels ({', '.join(self.metrics)})"
            )

    def __reduce__(self) -> tuple[object, ...]:
        # A mappingproxy does not pickle; workers receive specs.
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values |= {"metrics": dict(self.metrics), "stability": dict(self.stability)}
        return (_rebuild, (type(self), values))


@dataclass(frozen=True, kw_only=True)
class MetricSpec(Spec):
    """A metric. The target is a class, built with its options (or with nothing).

    `tasks` are those whose runs it can measure. A metric of unit `stack` has none, but `combines`:
    for each prediction that it takes of a sample, the bare names of the tasks that may give it.
    `extra` and `modules` are as in ModelSpec. Reports fold states where the extra may be missing,
    so the target imports and builds without it.
    """

    tasks: tuple[str, ...] = ()
    options: str | None = None
    combines: tuple[tuple[str, ...], ...] = ()
    extra: str | None = None
    modules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tasks and self.combines:
            raise PluginError(
                f"MetricSpec {self.name}: it is either for runs of `tasks`, or it `combines` them"
            )


@dataclass(frozen=True, kw_only=True)
class AdapterSpec(Spec):
    """An adapter. The target is `wrap(function, options, runtime) -> Model`."""

    tasks: tuple[str, ...]
    options: str | None = None


@dataclass(frozen=True, kw_only=True)
class ModelSpec(Spec):
    """A model. The target is `load(options, runtime) -> Model`.

    `needs` are record keys without which the model cannot run (a right view, say): checked
    before anything is computed. `extra` names what to install, as in `rpx-depth[stereo]`, and
    `modules` the imports that the extra brings. `unavailable` gives the reason for a name that
    is known but cannot be offered. `argument` is the option that TEXT sets in `NAME:TEXT`, so
    that `--model hf:checkpoint` is short for the model `hf` with that checkpoint.

    `does` is for a model whose options decide which of its `tasks` it can do: a light function
    from the options as the user gave them to those tasks, or to None where nothing on this machine
    tells. It is asked when no task is named, and imports nothing heavy. `install` is the command
    to show where `modules` are missing and no extra brings them.
    """

    tasks: tuple[str, ...]
    needs: tuple[str, ...] = ()
    options: str | None = None
    argument: str | None = None
    does: str | None = None
    extra: str | None = None
    install: str | None = None
    modules: tuple[str, ...] = ()
    unavailable: str | None = None


@dataclass(frozen=True, kw_only=True)
class DatasetSpec(Spec):
    """A dataset or a folder layout. The target is `open(options, cache) -> Manifest`.

    A `layout` describes folders that users already have: its options carry `root`, and
    `rpx data index NAME ROOT` writes the manifest. `argument` is as in ModelSpec. A `selective`
    dataset fetches only what is asked for: its target is `open(options, cache, wanted)`, where
    `wanted` (`rpx_core.datasets.Wanted`) names the task and split.
    """

    tasks: tuple[str, ...]
    options: str | None = None
    argument: str | None = None
    extra: str | None = None
    modules: tuple[str, ...] = ()
    layout: bool = False
    selective: bool = False


@dataclass(frozen=True, kw_only=True)
class ProtocolSpec(Spec):
    """A versioned set of choices. The target is a TOML resource, `package:protocols/x.toml`."""

    tasks: tuple[str, ...]

    @staticmethod
    def _target_pattern() -> re.Pattern[str]:
        return RESOURCE_PATTERN


@dataclass(frozen=True, kw_only=True)
class ReporterSpec(Spec):
    """A report format. The target is `render(results) -> Mapping[file name, bytes]`."""

    extra: str | None = None
    modules: tuple[str, ...] = field(default=())


def _texts(value: object) -> Iterator[str]:
    """The texts in a field: itself, or those in a tuple or mapping."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from _texts(pair)
    elif isinstance(value, tuple):
        for part in value:
            yield from _texts(part)


def _rebuild(kind: type[Spec], values: dict[str, object]) -> Spec:
    return kind(**values)  # type: ignore[arg-type]  # values come from the same class
