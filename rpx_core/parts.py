"""Resolved plugin parts: what a worker needs to build a task, metric, model or adapter.

A part is data (names, import strings, validated options), so that it crosses process boundaries
and enters the identity of a run; building happens where the work is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from rpx_core.errors import ConfigError, PluginError
from rpx_core.host import Offer, call_plugin, load_target
from rpx_core.identity import file_digest


@dataclass(frozen=True)
class Part:
    """One spec with its options: enough to build what it describes, anywhere."""

    name: str
    version: str
    target: str
    options_target: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    contents: Mapping[str, str] = field(default_factory=dict)
    """Digests of the files that options name: they count, and where they lie does not."""

    def load(self) -> Any:
        """What the target names; raises PluginError when it cannot be imported."""
        return load_target(self.target, wanted_by=self.name)

    def load_options(self) -> BaseModel | None:
        """The options as their own class, or None where the spec declares none."""
        if self.options_target is None:
            return None
        return _options_class(self.options_target, self.name).model_validate(dict(self.options))

    def build(self, *arguments: object) -> Any:
        """Call the target with the arguments; options come first where the spec declares them."""
        options = self.load_options()
        first = () if options is None else (options,)
        target = self.load()
        return call_plugin(f"{self.target} of {self.name}", lambda: target(*first, *arguments))

    def call(self, *arguments: object) -> Any:
        """Call the target with options (None where it declares none) and the arguments."""
        target, options = self.load(), self.load_options()
        return call_plugin(f"{self.target} of {self.name}", lambda: target(options, *arguments))

    def identity(self) -> dict[str, Any]:
        """What of this part can move a number."""
        options = {**self.options, **self.contents}
        return {"name": self.name, "version": self.version, "options": options}


def resolve_part(offer: Offer[Any], options: Mapping[str, Any], *, field_name: str) -> Part:
    """A part from a spec and the options of the configuration, checked by the spec's own class."""
    spec = offer.spec
    target: str | None = getattr(spec, "options", None)
    if target is None:
        if options:
            raise ConfigError(
                f"{field_name}: {offer.full_name} has no options, but {', '.join(options)} is set"
            )
        return Part(offer.full_name, offer.version, spec.target)
    kind = _options_class(target, offer.full_name)
    try:
        validated = kind.model_validate(dict(options))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise ConfigError(
            f"{field_name}.{where}: {problem['msg']}",
            hint=f"options of {offer.full_name}: {', '.join(kind.model_fields) or 'none'}",
        ) from error
    return Part(
        offer.full_name,
        offer.version,
        spec.target,
        target,
        validated.model_dump(mode="json"),
        {
            name: file_digest(value)
            for name, value in validated
            if isinstance(value, Path) and value.is_file()
        },
    )


def _options_class(target: str, owner: str) -> type[BaseModel]:
    kind = load_target(target, wanted_by=owner)
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        raise PluginError(f"{owner}: options {target} is not a pydantic model")
    return kind
