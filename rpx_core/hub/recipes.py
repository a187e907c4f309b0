"""Which published manifest serves a task, and what of its entries the task needs.

The release names its manifests by recipe (`segmentation`, `relative_pose`), the early layout by
task; where both are there, that of the task is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rpx_core.contracts import Difficulty
from rpx_core.errors import ConfigError, ManifestError
from rpx_core.hub.listing import Listing
from rpx_core.hub.origin import Origin

_RECIPES: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "object_segmentation": ("segmentation", ()),
        "relative_camera_pose": ("relative_pose", ()),
        # No recipe of their own: the frames of depth, with their poses.
        "novel_view_synthesis": ("monocular_depth", ("pose",)),
        "trajectory": ("monocular_depth", ("pose",)),
    }
)
_MODALITIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "cam_pose": ("pose",),
        "masks": ("mask",),
        "fisheye": ("fisheye_left", "fisheye_right"),
        **{key: (key,) for key in ("pose", "mask", "depth", "fisheye_left", "fisheye_right")},
    }
)


@dataclass(frozen=True)
class Recipe:
    """Manifests of a repository by path, and keys that are added to their entries."""

    paths: tuple[str, ...]
    adds: tuple[str, ...]


def find_recipe(
    listing: Listing, origin: Origin, task: str, split: str | None, named: str | None = None
) -> Recipe:
    """The manifests for a task and split, all splits without one.

    `named` is a recipe to take instead of the usual one. Raises ManifestError that says what
    there is.
    """
    usual, adds = _RECIPES.get(task, (task, ()))
    names = ((named, ()),) if named else ((task, ()), (usual, adds))
    for name, added in names:
        splits = listing.splits.get(name, ())
        wanted = _in_order(splits) if split in (None, "all") else (split,)
        if splits and set(wanted) <= set(splits):
            return Recipe(tuple(f"manifests/{name}/{one}.json" for one in wanted), added)
    there = "; ".join(f"{name}: {', '.join(found)}" for name, found in listing.splits.items())
    asked = f"split {split}" if split else "any split"
    raise ManifestError(
        f"{origin} has no manifest for {named or task}, {asked}",
        hint=f"manifests there: {there or 'none; is this a dataset in the RPX layout?'}",
    )


def modality_keys(names: Sequence[str]) -> tuple[str, ...]:
    """The record keys of modalities; raises ConfigError for an unknown one."""
    for name in names:
        if name not in _MODALITIES:
            raise ConfigError(
                f"there is no modality {name!r}", hint=f"known: {', '.join(sorted(_MODALITIES))}"
            )
    return tuple(dict.fromkeys(key for name in names for key in _MODALITIES[name]))


def _in_order(splits: Sequence[str]) -> tuple[str, ...]:
    """Each sample once: the difficulties, or what else there is."""
    tiers = tuple(tier.value for tier in Difficulty if tier.value in splits)
    return tiers or (("all",) if "all" in splits else tuple(splits))
