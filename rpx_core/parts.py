"""Resolved plugin parts: what a worker needs to build a task, metric, model or adapter.

A part is data (names, import strings, validated options), so that it crosses process boundaries
and enters the identity of a run; building happens where the work is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ValidationError

from rpx_core.errors import ConfigError, PluginError
from rpx_core.isolation import call_plugin, load_target
from rpx_core.offers import Offer
from rpx_core.option_files import Plain, plain_options


@dataclass(frozen=True)
class Part:
    """One spec with its options: enough to build what it describes, anywhere."""

    name: str
    version: str
    target: str
    options_target: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def plain(self) -> Plain:
        """The options as they count; taken once, in the process that plans.

        Raises ConfigError where an option names a file that is not there.
        """
        options = self.load_options()
        return Plain({}, {}) if options is None else plain_options(options, self.name)

    def load(self) -> Any:
        """What the target names; raises PluginError when it cannot be imported."""
        return load_target(self.target, wanted_by=self.name)

    def load_options(self) -> BaseModel | None:
        """The options as their own class, or None where the spec declares none."""
        if self.options_target is None:
            return None
        return load_options_class(self.options_target, self.name).model_validate(dict(self.options))

    def build(self, *arguments: object) -> Any:
        """Call the target with the arguments; options come first where the spec declares them."""
        _ = self.plain  # says which file is missing before the target trips over it
        options = self.load_options()
        first = () if options is None else (options,)
        target = self.load()
        return call_plugin(f"{self.target} of {self.name}", lambda: target(*first, *arguments))

    def call(self, *arguments: object) -> Any:
        """Call the target with options (None where it declares none) and the arguments."""
        return self.load()(self.load_options(), *arguments)

    def identity(self) -> dict[str, Any]:
        """What of this part can move a number."""
        files = {"files": self.plain.files} if self.plain.files else {}
        return {
            "name": self.name,
            "version": self.version,
            "options": self.plain.options,
            **files,
        }


def resolve_stored(offer: Offer[Any], stored: Mapping[str, Any], *, field_name: str) -> Part:
    """A part from the identity of an earlier one; raises ConfigError where that read files.

    A record does not say where files lie, so it cannot give them back.
    """
    if stored.get("files"):
        names = ", ".join(f"{field_name}.{name}" for name in stored["files"])
        raise ConfigError(
            f"{offer.full_name} was made with a file or folder that the run does not keep: {names}",
            hint="run the command that made the run again, with that file: what is finished is "
            "kept, and only reported anew",
        )
    return resolve_part(offer, stored["options"], field_name=field_name)


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
    kind = load_options_class(target, offer.full_name)
    try:
        validated = kind.model_validate(dict(options))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join([field_name, *map(str, problem["loc"])])
        raise ConfigError(
            f"{where}: {problem['msg'].removeprefix('Value error, ')}",
            hint=f"options of {offer.full_name}: {', '.join(kind.model_fields) or 'none'}",
        ) from error
    options_dump = validated.model_dump(mode="json")
    return Part(offer.full_name, offer.version, spec.target, target, options_dump)


def load_options_class(target: str, owner: str) -> type[BaseModel]:
    """The options class that a spec names; raises PluginError where it is none."""
    kind = load_target(target, wanted_by=owner)
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        raise PluginError(f"{owner}: options {target} is not a pydantic model")
    return kind
