"""Which names a split may have, as far as that can be said before the hub is asked."""

from __future__ import annotations

import re

from rpx_core.contracts import Difficulty
from rpx_core.errors import ConfigError
from rpx_core.hub.origin import RELEASE, Origin
from rpx_core.spelling import did_you_mean

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,79}", re.ASCII)


def check_split(origin: Origin, split: str | None, recipe: str | None = None) -> None:
    """Raise ConfigError for a split that the repository cannot have.

    The usual manifests of the release have one for each difficulty. Of other repositories, and of
    other recipes, only the listing tells which splits there are.
    """
    if split is None or split == "all":
        return
    known = [tier.value for tier in Difficulty]
    if origin.repo_id == RELEASE and recipe is None and split not in known:
        raise ConfigError(
            f"{RELEASE} has no split {split!r}; it has {', '.join(known)}, and all",
            hint=did_you_mean(split, known, most=1) or "choose one of them",
        )
    if not _NAME.fullmatch(split):
        raise ConfigError(
            f"{split!r} is no name of a split",
            hint="a split is a manifest's file name without its ending, as hard",
        )
