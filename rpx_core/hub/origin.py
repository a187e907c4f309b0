"""Which repository, which revision, and which cache."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from rpx_core.errors import ConfigError

RELEASE = "IRVLUTD/RPX"
RELEASE_COMMIT = "51432e5d48895bbafb490ae7c5e34e0f6b7da7d6"
"""The audited release: a moving branch would make two runs incomparable."""

_REPO = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_REVISION = re.compile(r"(?!.*\.\.)[\w./-]{1,200}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_TRUE = frozenset({"1", "ON", "YES", "TRUE"})


@dataclass(frozen=True)
class Origin:
    """A dataset repository at a revision: a branch, a tag or a commit."""

    repo_id: str
    revision: str

    def __post_init__(self) -> None:
        if not _REPO.fullmatch(self.repo_id) or ".." in self.repo_id:
            raise ConfigError(
                f"{self.repo_id!r} is no repository of datasets",
                hint="name it OWNER/NAME, as in --data hub:IRVLUTD/RPX",
            )
        if not _REVISION.fullmatch(self.revision) or self.revision.startswith(("/", "-")):
            raise ConfigError(
                f"{self.revision!r} is no revision",
                hint="a branch, a tag, or the 40 digits of a commit",
            )

    @property
    def folder(self) -> str:
        """The name of its folder in the cache, which no other repository has."""
        return quote(self.repo_id, safe="")

    def __str__(self) -> str:
        return f"{self.repo_id}@{self.revision}"


def choose_origin(repo_id: str | None = None, revision: str | None = None) -> Origin:
    """What is asked for, else $RPX_HF_REPO and $RPX_HF_REVISION, else the RPX release.

    Other repositories than the release are taken at `main`, where no revision is named.
    """
    repo = repo_id or os.environ.get("RPX_HF_REPO") or RELEASE
    usual = RELEASE_COMMIT if repo == RELEASE else "main"
    return Origin(repo, revision or os.environ.get("RPX_HF_REVISION") or usual)


def is_commit(revision: str) -> bool:
    """Whether a revision is a commit, which never moves."""
    return _COMMIT.fullmatch(revision) is not None


def is_offline() -> bool:
    """Whether $HF_HUB_OFFLINE forbids every request."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in _TRUE


def endpoint() -> str:
    """Where the hub is: $HF_ENDPOINT, else huggingface.co."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def shown_endpoint() -> str:
    """The same without a user and password, for messages."""
    return re.sub(r"//[^/]*@", "//", endpoint())


def hub_cache(cache: Path) -> Path:
    """The folder of all repositories inside a cache."""
    return cache / "hub"
