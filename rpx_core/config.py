"""The configuration of one run: one task, model, dataset and split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from rpx_core.errors import ConfigError
from rpx_core.spelling import did_you_mean

Label = Annotated[str, Field(pattern=r"^[a-z0-9_-]+$", max_length=80)]
Options = dict[str, Any]


class Section(BaseModel):
    """A part of the configuration: frozen, and strict about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Named(Section):
    """A registered name with its options; a bare string stands for the name alone."""

    name: Annotated[str, Field(min_length=1, max_length=400)]
    options: Options = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_string(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value


def _part(split: str | None) -> str | None:
    return None if split == "all" else split


class Data(Named):
    """Which samples: a registered dataset or a manifest path, a split, at most `limit` samples."""

    name: Annotated[str, Field(min_length=1, max_length=400)] = "demo"
    split: Annotated[str | None, AfterValidator(_part)] = None
    """`all` is the same as none."""
    limit: Annotated[int, Field(ge=1)] | None = None


class Align(Section):
    """How predictions may be fitted to the truth, and over what: each sample, or each sequence.

    A bare string is the method; `median:sequence` names both.
    """

    method: str = "none"
    scope: Literal["sample", "sequence"] = "sample"

    @model_validator(mode="before")
    @classmethod
    def _from_string(cls, value: Any) -> Any:
        return cls.spell_out(value) if isinstance(value, str) else value

    @staticmethod
    def spell_out(text: str) -> dict[str, str]:
        """The table that the short form stands for."""
        method, _, scope = text.partition(":")
        return {"method": method, "scope": scope or "sample"}


class Execution(Section):
    """How the work is done; nothing here can change a number."""

    executor: Literal["serial", "process"] | None = None
    """Default: serial for one worker, processes for more."""
    workers: Annotated[int, Field(ge=1, le=1024)] = 1
    devices: Annotated[tuple[str, ...], Field(min_length=1)] = ("auto",)
    """One for each worker in turn, as torch writes them; `auto` is cuda for models that use torch
    where it finds one, else cpu."""
    batch_size: Annotated[int, Field(ge=1)] = 1
    save_predictions: bool = False
    max_failed: Annotated[int, Field(ge=0)] = 0
    previews: Annotated[int, Field(ge=0, le=1000)] = 6


class RunConfig(Section):
    """Everything that defines a run. What is not `execution` is part of its identity."""

    task: str | None = None
    """Default: every installed task that fits model and data."""
    model: Named | None = None
    """Default: the task's baseline."""
    data: Data = Data()
    protocol: str | None = None
    options: Options = Field(default_factory=dict)
    """Options of the task itself: crops, range caps."""
    metrics: dict[Label, Named] | None = None
    """Label to metric; default: those of the protocol, else of the task."""
    primary: Annotated[str, Field(pattern=r"^[a-z0-9_-]+\.[a-z0-9_]+$")] | None = None
    """The output that the run is about, as `label.output`: its headline, and the one that
    readiness is computed from. Default: the protocol's, else the task's."""
    adapter: Named | None = None
    align: Align = Align()
    readiness: Literal["rpx-1", "rpx-2"] = "rpx-2"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    requires: dict[str, str] = Field(default_factory=dict)
    execution: Execution = Execution()

    @field_validator("metrics")
    @classmethod
    def _some_metric(cls, value: dict[str, Named] | None) -> dict[str, Named] | None:
        if value is not None and not value:
            raise ValueError("no metric is named; leave the table out for the default metrics")
        return value


def merge_layers(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """One table from layers, the first strongest.

    Tables merge key by key, except `metrics`, which a stronger layer replaces whole; naming
    another model, dataset or adapter drops the options of the one it replaces. A bare string
    stands for the table that it is short for.
    """
    merged: dict[str, Any] = {}
    for layer in reversed(layers):
        for key, value in layer.items():
            merged[key] = _over(key, merged.get(key), value)
    return merged


def build_config(*layers: Mapping[str, Any], source: str) -> RunConfig:
    """The configuration from layers; raises ConfigError naming the field that is wrong."""
    merged = merge_layers(*layers)
    try:
        return RunConfig.model_validate(merged)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"]) or "configuration"
        hint = _hint(problem["type"], where)
        raise ConfigError(f"{source}: {where}: {problem['msg']}", hint=hint) from error


def set_field(layer: dict[str, Any], address: str, value: Any) -> None:
    """Set `a.b` in a nested layer, making tables on the way; raises ConfigError on a clash."""
    *parents, last = address.split(".")
    table = layer
    for part in parents:
        child = table.setdefault(part, {})
        if isinstance(child, str):
            # `--model x --set model.options.y=1`: the bare name becomes a table.
            child = table[part] = _spell_out(part, child)
        if not isinstance(child, dict):
            raise ConfigError(f"{address}: {part} is not a table")
        table = child
    table[last] = value


_NAMED = frozenset({"model", "data", "adapter"})


def _spell_out(key: str, value: Any) -> Any:
    """The table that a bare string of this field stands for; anything else as it is."""
    if not isinstance(value, str):
        return value
    return Align.spell_out(value) if key == "align" else {"name": value}


def _over(key: str, weak: Any, strong: Any) -> Any:
    """One field of the configuration: a stronger layer's value over a weaker one's."""
    if key in _NAMED | {"align"}:
        weak, strong = _spell_out(key, weak), _spell_out(key, strong)
    if key == "metrics" or not (isinstance(weak, Mapping) and isinstance(strong, Mapping)):
        return strong
    if key in _NAMED and strong.get("name", weak.get("name")) != weak.get("name"):
        weak = {name: value for name, value in weak.items() if name in {"split", "limit"}}
    return _merge(weak, strong)


def _merge(weak: Mapping[str, Any], strong: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(weak)
    for key, value in strong.items():
        below = merged.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            merged[key] = _merge(below, value)
        else:
            merged[key] = value
    return merged


def _hint(kind: str, where: str) -> str | None:
    if kind == "missing" and where.endswith(".name"):
        part = where.removesuffix(".name")
        return f"name it too: its options mean nothing alone (--set {where}=NAME, or --{part})"
    if kind != "extra_forbidden":
        return None
    sections = (RunConfig, Execution, Data, Align)
    known = list(dict.fromkeys(name for section in sections for name in section.model_fields))
    return did_you_mean(where.rpartition(".")[2], known) or f"known: {', '.join(known)}"
