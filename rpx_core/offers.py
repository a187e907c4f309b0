"""What the host knows of plugins: the offers by full name, and the state of each plugin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from rpx_core.specs import (
    AdapterSpec,
    DatasetSpec,
    MetricSpec,
    ModelSpec,
    ProtocolSpec,
    ReporterSpec,
    Spec,
    TaskSpec,
)

SpecT = TypeVar("SpecT", bound=Spec)

Kind = Literal["task", "metric", "adapter", "model", "dataset", "protocol", "reporter"]


@dataclass(frozen=True)
class Collection:
    """Which hook collects the specs of one kind, and their type."""

    hook: str
    spec: type[Spec]


COLLECTIONS: Mapping[Kind, Collection] = MappingProxyType(
    {
        "task": Collection("rpx_tasks", TaskSpec),
        "metric": Collection("rpx_metrics", MetricSpec),
        "adapter": Collection("rpx_adapters", AdapterSpec),
        "model": Collection("rpx_models", ModelSpec),
        "dataset": Collection("rpx_datasets", DatasetSpec),
        "protocol": Collection("rpx_protocols", ProtocolSpec),
        "reporter": Collection("rpx_reporters", ReporterSpec),
    }
)
NOTIFICATIONS = ("rpx_run_started", "rpx_sample_scored", "rpx_run_finished")
HOOKS = (*(collection.hook for collection in COLLECTIONS.values()), *NOTIFICATIONS)


class Status(StrEnum):
    """Whether a plugin takes part."""

    OK = "ok"
    BROKEN = "broken"


@dataclass(frozen=True)
class Plugin:
    """One entry point of the group `rpx` as the host found it; `name` is only a label."""

    name: str
    distribution: str
    version: str
    status: Status
    problem: str | None = None
    traceback: str | None = None
    hooks: tuple[str, ...] = ()
    editable: bool = False

    def __str__(self) -> str:
        return f"plugin {self.name!r} of {self.distribution} {self.version}"


@dataclass(frozen=True)
class Offer(Generic[SpecT]):
    """A spec and the distribution that offers it."""

    spec: SpecT
    distribution: str
    version: str
    editable: bool = False

    @property
    def full_name(self) -> str:
        """The name that stays unique whatever else is installed."""
        return f"{self.distribution}/{self.spec.name}"


Offers = Mapping[str, Offer[Any]]
"""Offers of one kind by full name."""


def canonical(distribution: str) -> str:
    """The distribution's name as PEP 503 compares names."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
