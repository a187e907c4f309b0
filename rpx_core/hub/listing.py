"""What a commit of a repository holds: every file with its size and digest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rpx_core.errors import DownloadError


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a commit.

    `digest` is `sha256:...` for large files and `git:...`, the id of the blob, for small ones;
    empty where the hub tells neither.
    """

    path: str
    size: int
    digest: str


@dataclass(frozen=True)
class Listing:
    """The files of one commit by path."""

    commit: str
    files: Mapping[str, HubFile]

    @cached_property
    def splits(self) -> Mapping[str, tuple[str, ...]]:
        """The splits that each folder of `manifests/` has."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.files):
            match path.split("/"):
                case ["manifests", recipe, name] if name.endswith(".json"):
                    found.setdefault(recipe, []).append(name.removesuffix(".json"))
        return {recipe: tuple(names) for recipe, names in found.items()}

    def document(self) -> dict[str, Any]:
        """The listing as JSON."""
        files = [[file.path, file.size, file.digest] for file in self.files.values()]
        return {"schema": "rpx-listing-1", "commit": self.commit, "files": files}


def build_listing(commit: str, files: Iterable[HubFile]) -> Listing:
    """A listing in order of path."""
    return Listing(commit, {file.path: file for file in sorted(files, key=lambda f: f.path)})


def read_listing(document: Any) -> Listing:
    """The listing that `document()` wrote; raises ValueError for anything else."""
    match document:
        case {"schema": "rpx-listing-1", "commit": str(commit), "files": [*rows]}:
            if not all(_is_file_row(row) for row in rows):
                raise ValueError("not a listing")
            return build_listing(commit, (HubFile(*row) for row in rows))
    raise ValueError("not a listing")


def _is_file_row(row: object) -> bool:
    match row:
        case [str(), int(), str()]:
            return True
    return False


class _Lfs(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    oid: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=0)


class _TreeItem(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    type: str
    path: str = Field(min_length=1, max_length=1000)
    oid: str = ""
    size: int = Field(default=0, ge=0)
    lfs: _Lfs | None = None


def read_tree(items: Any, *, source: str) -> list[HubFile]:
    """The files of one page of the hub's tree; raises DownloadError for what is no tree."""
    if not isinstance(items, list):
        raise DownloadError(f"{source}: a list of files was expected", hint="check HF_ENDPOINT")
    try:
        parsed = [_TreeItem.model_validate(item) for item in items]
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"]) or "a file"
        raise DownloadError(
            f"{source}: {where}: {problem['msg']}", hint="check HF_ENDPOINT"
        ) from error
    return [_file(item) for item in parsed if item.type == "file" and _is_safe(item.path)]


def _is_safe(path: str) -> bool:
    """Whether a path of the repository may become one below a folder of ours.

    No dataset needs another; what a manifest lists and is left out here is reported as missing.
    """
    parts = path.split("/")
    unsafe = any(part in ("", "..") or part.startswith(".") for part in parts)
    return not unsafe and path.isprintable() and not set(path) & set('\\:*?"<>|')


def _file(item: _TreeItem) -> HubFile:
    if item.lfs is not None:
        return HubFile(item.path, item.lfs.size, f"sha256:{item.lfs.oid}")
    is_blob = len(item.oid) == 40 and set(item.oid) <= set("0123456789abcdef")
    return HubFile(item.path, item.size, f"git:{item.oid}" if is_blob else "")
