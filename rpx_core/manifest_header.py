"""The header of a manifest: what it says of all its records, and where their files lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rpx_core.errors import ManifestError


class Header(BaseModel):
    """What a manifest says of all its records."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rpx-manifest-1"] = Field(default="rpx-manifest-1", alias="schema")
    name: str | None = None
    version: str | None = None
    description: str | None = None
    license: str | None = None
    split: str | None = None
    task: str | None = None
    tasks: tuple[str, ...] = ()
    root: str = "."
    pose_convention: Literal["opencv", "t265"] = "t265"
    vocabulary: tuple[str, ...] = ()
    defaults: dict[str, Any] = Field(default_factory=dict)

    def served(self) -> tuple[str, ...]:
        """The tasks that the records carry assets for."""
        return tuple(dict.fromkeys([*([self.task] if self.task else []), *self.tasks]))

    def inherited(self) -> dict[str, Any]:
        """What every record has that does not say otherwise."""
        inherited: dict[str, Any] = {"pose_convention": self.pose_convention}
        if self.vocabulary:
            inherited["vocabulary"] = list(self.vocabulary)
        return {**inherited, **self.defaults}


def read_header(raw: object, path: Path) -> Header:
    """The header of the manifest at `path`; raises ManifestError for one that cannot be."""
    if not isinstance(raw, dict):
        raise ManifestError(f"{path}: the header must be an object with `task` or `tasks`")
    try:
        header = Header.model_validate(raw)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise ManifestError(
            f"{path}: header: {where[:80]}: {problem['msg']}",
            hint=f"known header keys: {', '.join(sorted(Header.model_fields))}".replace("_,", ","),
        ) from error
    if not header.served():
        raise ManifestError(
            f"{path}: no task is named", hint='add "task": "monocular_depth", or a list `tasks`'
        )
    return header


def root_folder(path: Path, header: Header, root: Path | None) -> Path:
    """The folder that all files lie below: `root`, or what the header of `path` says of it."""
    if root is not None:
        return root.resolve()
    folder = path.parent.resolve()
    try:
        inside = (folder / header.root).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise ManifestError(f"{path}: root {header.root[:80]!r} is no folder: {error}") from error
    if not inside.is_relative_to(folder):
        raise ManifestError(
            f"{path}: root {header.root!r} lies outside the manifest's folder",
            hint="if that is meant, say so yourself: --set data.options.root=FOLDER",
        )
    return inside
