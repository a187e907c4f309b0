"""What a text means that names a checkpoint: a repository of the hub, or a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rpx_core.errors import ConfigError, first_few
from rpx_core.files import expand_home, quote
from rpx_core.spelling import did_you_mean

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)
_LONGEST = 96
"""Characters of a name that the hub gives to a repository, with its owner's."""


def is_repository(text: str) -> bool:
    """Whether a repository of the hub may have this name."""
    return len(text) <= _LONGEST and _REPOSITORY.fullmatch(text) is not None


def looks_like_path(checkpoint: str | Path) -> bool:
    """Whether what is no folder was meant as one, and not as a repository of the hub.

    `weights/mine` is taken for a path where there is a folder `weights` here.
    """
    if isinstance(checkpoint, Path) or not is_repository(checkpoint):
        return True
    owner, slash, _ = checkpoint.partition("/")
    return bool(slash) and Path(owner).is_dir()


def refuse_missing(options: Mapping[str, Any]) -> None:
    """Raise ConfigError where the options name a checkpoint as a folder that is not there."""
    checkpoint = options.get("checkpoint")
    if not isinstance(checkpoint, str | Path) or not checkpoint:
        return
    if os.path.isdir(expand_home(checkpoint)):
        return
    if looks_like_path(checkpoint):
        problem, hint = describe_missing(checkpoint)
        raise ConfigError(problem, hint=hint)


def describe_missing(checkpoint: str | Path) -> tuple[str, str | None]:
    """What to say of a text that names no folder here, and what to do about it."""
    path = expand_home(checkpoint)
    if os.path.isfile(path):
        return f"{checkpoint} is a file", f"name the folder that holds it: {path.parent}"
    parts = (path, *path.parents)
    missing = next((one for one in parts if os.path.isdir(one.parent)), path)
    named = f"there is no folder {quote(str(checkpoint))}"
    if missing != path:
        named += f": {missing} is not there"
    hint = _neighbours(missing, listed=missing == path)
    if isinstance(checkpoint, str) and is_repository(checkpoint):
        otherwise = "if it is a repository of the hub, say for which task"
        return named, f"{hint}; {otherwise}" if hint else otherwise
    return f"{named}, and no repository of the hub has such a name", hint


def _neighbours(missing: Path, *, listed: bool) -> str | None:
    """The folders beside one that is missing: those spelt most like it, else the first."""
    try:
        names = sorted(path.name for path in missing.parent.iterdir() if path.is_dir())
    except OSError:
        return None
    shown = [name for name in names if not name.startswith(".")]
    meant = did_you_mean(missing.name, shown)
    if meant or not shown or not listed:
        return meant
    return f"{missing.parent.absolute()} holds {first_few(shown, 5)}"
