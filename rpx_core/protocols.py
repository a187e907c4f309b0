"""Protocols: versioned choices of options, metrics and alignment that people compare by."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rpx_core.config import Align, Label, Named, RunConfig
from rpx_core.documents import read_toml
from rpx_core.errors import PluginError
from rpx_core.offers import Offer
from rpx_core.specs import ProtocolSpec

FIELDS = ("options", "metrics", "primary", "align", "readiness")
"""The fields of a configuration that a protocol may set."""


class ProtocolFile(BaseModel):
    """The content of a protocol's TOML file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rpx-protocol-1"] = Field(alias="schema")
    task: str
    summary: str
    source: str = ""
    options: dict[str, Any] = Field(default_factory=dict)
    metrics: dict[Label, Named] = Field(default_factory=dict)
    primary: str | None = None
    align: Align | None = None
    readiness: Literal["rpx-1", "rpx-2"] | None = None


@dataclass(frozen=True)
class Protocol:
    """A protocol as a layer of the configuration."""

    name: str
    version: str
    digest: str
    task: str
    layer: Mapping[str, Any]

    def departures(self, config: RunConfig) -> tuple[str, ...]:
        """The fields in which a configuration departs from the protocol."""
        plain = RunConfig.model_validate({"task": config.task, **self.layer})
        return tuple(field for field in FIELDS if getattr(plain, field) != getattr(config, field))

    def identity(self, config: RunConfig) -> dict[str, Any]:
        """Name, content and departures: a modified protocol never passes for the real one."""
        return {
            "name": self.name,
            "version": self.version,
            "digest": self.digest,
            "departures": list(self.departures(config)),
        }


def load_protocol(offer: Offer[ProtocolSpec]) -> Protocol:
    """Read a protocol; raises PluginError when its file breaks the format."""
    package, _, path = offer.spec.target.partition(":")
    try:
        content = resources.files(package).joinpath(path).read_bytes()
        table = read_toml(content, source=f"protocol {offer.full_name}", error=PluginError)
        file = ProtocolFile.model_validate(table)
    except (OSError, ImportError) as error:
        raise PluginError(f"protocol {offer.full_name}: {offer.spec.target}: {error}") from error
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise PluginError(f"protocol {offer.full_name}: {where}: {problem['msg']}") from error
    layer: dict[str, Any] = {"task": file.task, "protocol": offer.full_name}
    for field in FIELDS:
        value = getattr(file, field)
        if value:
            layer[field] = table[field]
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return Protocol(offer.full_name, offer.version, digest, file.task, layer)
