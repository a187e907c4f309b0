"""What a plugin of this repository offers, for tests of particular specs and published names.

What holds for every plugin is in `rpx_core.testing`.
"""

from __future__ import annotations

import inspect
from functools import cached_property
from types import MappingProxyType, ModuleType
from typing import Any

from rpx_core.offers import COLLECTIONS, Kind, Offer
from rpx_core.parts import resolve_part
from rpx_core.protocols import Protocol, load_protocol
from rpx_core.specs import Spec, TaskSpec


class Offered:
    """The specs that the entry module of one plugin returns."""

    def __init__(self, entry: ModuleType) -> None:
        self._entry = entry
        self.specs = MappingProxyType(
            {
                kind: tuple(getattr(entry, collection.hook)())
                for kind, collection in COLLECTIONS.items()
                if hasattr(entry, collection.hook)
            }
        )

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

    def _offer(self, spec: Any) -> Offer[Any]:
        distribution = self._entry.__name__.partition(".")[0].replace("_", "-")
        return Offer(spec, distribution, "0.1.0", True)


def check_published(published: ModuleType, distribution: str) -> None:
    """Published names are there, documented, and where core looks for those of a distribution."""
    import rpx_core

    offered = {name for name, (owner, _) in rpx_core.PUBLISHED.items() if owner == distribution}
    assert offered <= set(published.__all__)
    for name in published.__all__:
        assert inspect.getdoc(getattr(published, name)), name
    for name in offered:
        assert getattr(rpx_core, name) is getattr(published, name)


def name_of(named: Any) -> str:
    """The name of a spec or protocol, for the ids of tests."""
    return str(named.name)
