"""Trained weights as an option: a folder on this machine, or a repository of the hub at a commit.

A folder counts by what it holds, a repository by its commit; where either lies never does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from rpx_core.checkpoint_files import CONFIG_FILE, read_config
from rpx_core.checkpoint_places import describe_missing, is_repository
from rpx_core.errors import ConfigError, DownloadError
from rpx_core.files import expand_home

_COMMIT = re.compile(r"[0-9a-f]{40}")
_TIMEOUT_S = 10.0


def _locate(value: Any) -> Any:
    """A folder as its path, the name of a repository as text; raises ValueError for the rest."""
    if not isinstance(value, str | Path) or not value:
        raise ValueError("a folder, or the name of a hub repository, was expected")
    # Not of "": Path("") is where the command was typed.
    folder = expand_home(value)
    # Not is_dir(): it raises for a text that no file system takes.
    if os.path.isdir(folder):
        return folder.resolve()
    if isinstance(value, str) and is_repository(value):
        return value
    problem, hint = describe_missing(value)
    raise ValueError(f"{problem}; {hint}" if hint else problem)


Checkpoint = Annotated[Path | str, BeforeValidator(_locate)]
"""A folder that exists (a Path), else the name of a repository on the Hugging Face hub (text)."""


class CheckpointOptions(BaseModel):
    """Which weights: `checkpoint` is a folder, or a hub repository at a `revision`.

    A revision is a branch, tag or commit, by default the head of `main`; whichever it is, the
    commit that it stands for is looked up once, enters the identity, and is what gets loaded.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    checkpoint: Checkpoint
    revision: Annotated[str, Field(min_length=1, max_length=200)] | None = None

    def pinned(self) -> Self:
        """The same with the commit for revision; raises DownloadError where none can be found."""
        if isinstance(self.checkpoint, Path):
            if self.revision is not None:
                raise ConfigError(
                    f"the checkpoint {self.checkpoint} is a folder: it has no revision",
                    hint="leave the revision out: a folder counts by its content",
                )
            return self
        commit = resolve_commit(self.checkpoint, self.revision)
        return self.model_copy(update={"revision": commit})

    def described(self) -> str:
        """What people call it: the folder's name, or the repository at its commit."""
        if isinstance(self.checkpoint, Path):
            return self.checkpoint.name
        return f"{self.checkpoint}@{(self.revision or 'main')[:12]}"

    def located(self) -> str:
        """Where it is, as errors say it: the whole path of the folder, or the same repository."""
        return str(self.checkpoint) if isinstance(self.checkpoint, Path) else self.described()


def resolve_commit(repository: str, revision: str | None) -> str:
    """The commit that a revision of a model repository stands for, from the hub or its cache.

    Raises DownloadError: without a commit, nothing would say what was evaluated.
    """
    revision = revision or "main"
    if _COMMIT.fullmatch(revision):
        return revision
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        found = HfApi().model_info(repository, revision=revision, timeout=_TIMEOUT_S)
    except (RevisionNotFoundError, GatedRepoError, RepositoryNotFoundError) as error:
        raise _refusal(repository, revision, error) from error
    except HFValidationError as error:
        raise ConfigError(
            f"{repository}: {error}",
            hint="a checkpoint is OWNER/NAME on the hub, or an existing folder",
        ) from error
    except _unreachable() as error:
        commit = _cached_commit(repository, revision)
        if commit is None:
            raise DownloadError(
                f"the commit of {repository} at {revision!r} cannot be looked up: the hub does not "
                f"answer ({type(error).__name__}), and no folder has that name",
                hint="go online once, name a folder, or name the commit: "
                "--set model.options.revision=<40 hex digits>",
            ) from error
        return commit
    return str(found.sha)


def local_config(options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The `config.json` of a checkpoint, from its folder or the hub's cache; None if not cached.

    `options` are as the user gave them. Nothing is downloaded. Raises ModelError for a folder
    without one, and for one that is broken.
    """
    checkpoint = options.get("checkpoint")
    if not isinstance(checkpoint, str | Path) or not checkpoint:
        return None
    folder = expand_home(checkpoint)
    if os.path.isdir(folder):
        return read_config(folder)
    path = _cached_config(str(checkpoint), options.get("revision"))
    return read_config(path.parent) if path is not None and path.is_file() else None


def architectures(options: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The classes that a checkpoint says it is made for; None where nothing can be read here."""
    config = local_config(options)
    if config is None:
        return None
    named = config.get("architectures")
    return tuple(map(str, named)) if isinstance(named, list) else ()


def _cached_config(repository: str, revision: Any) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.constants import HF_HUB_CACHE

    if not is_repository(repository):
        return None
    at = revision if isinstance(revision, str) else None
    found = try_to_load_from_cache(repository, CONFIG_FILE, cache_dir=HF_HUB_CACHE, revision=at)
    return Path(found) if isinstance(found, str) else None


def _cached_commit(repository: str, revision: str) -> str | None:
    """The commit by which the hub's cache knows a branch or tag."""
    from huggingface_hub.constants import HF_HUB_CACHE
    from huggingface_hub.file_download import repo_folder_name

    folder = repo_folder_name(repo_id=repository, repo_type="model")
    try:
        commit = Path(HF_HUB_CACHE, folder, "refs", revision).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return commit if _COMMIT.fullmatch(commit) else None


def _refusal(repository: str, revision: str, error: Exception) -> DownloadError:
    reasons = {
        "RevisionNotFoundError": f"{repository} has no revision {revision!r}",
        "GatedRepoError": f"{repository} is gated: its owner must let you in",
    }
    return DownloadError(
        reasons.get(
            type(error).__name__,
            f"the hub shows no model repository {repository}, and no folder has that name",
        ),
        hint="check the spelling; for a gated or private one, `hf auth login` first",
    )


def _unreachable() -> tuple[type[Exception], ...]:
    """What the hub's client raises when it gets no answer; the HTTP library is its own affair."""
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    # The base class of that library's errors, whichever it is, is one of the bases of the first.
    return (OSError, OfflineModeIsEnabled, *HfHubHTTPError.__bases__)
