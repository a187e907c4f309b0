"""The dataset `hub`: a repository on the Hugging Face Hub, as far as a run needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rpx_core.datasets import Wanted
from rpx_core.errors import ConfigError, count_of
from rpx_core.files import expand_home
from rpx_core.hub.fetch import Access, Fetched, Query, fetch, open_repository
from rpx_core.hub.origin import Origin, choose_origin
from rpx_core.hub.splits import check_split
from rpx_core.manifest import Manifest, build_manifest

Focal = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Centre = Annotated[float, Field(allow_inf_nan=False)]


class HubOptions(BaseModel):
    """Which repository, and how much of it.

    `repo_id` and `revision` default to $RPX_HF_REPO and $RPX_HF_REVISION, else to the RPX release.
    `max_samples` are spread evenly over scenes, phases and frames. `extra` are further modalities
    to fetch: pose, depth, mask, fisheye. `recipe` names another manifest than that of the task.
    `intrinsics` (fx, fy, cx, cy in pixels) are those of release frames, which list none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    repo_id: str | None = None
    revision: str | None = None
    max_samples: Annotated[int, Field(ge=1)] | None = None
    extra: tuple[str, ...] = ()
    recipe: Annotated[str, Field(pattern=r"^[\w-]{1,80}$")] | None = None
    intrinsics: tuple[Focal, Focal, Centre, Centre] = (615.0, 615.0, 320.0, 240.0)
    cache_dir: Path | None = None
    max_workers: Annotated[int, Field(ge=1, le=64)] = 8

    @property
    def origin(self) -> Origin:
        """The repository and revision that are meant."""
        return choose_origin(self.repo_id, self.revision)

    def cache(self, usual: Path) -> Path:
        """The cache that is meant, `usual` where none is named."""
        return expand_home(self.cache_dir) if self.cache_dir else usual


def open_hub(options: HubOptions, cache: Path, wanted: Wanted) -> Manifest:
    """Fetch what the wanted task and split need, verified, and nothing else."""
    fetched = fetch_wanted(options, cache, wanted)
    manifest = build_manifest(
        fetched.header, fetched.samples, root=fetched.root, known=wanted.known
    )
    return manifest.with_origin(
        {"repo_id": options.origin.repo_id, "commit": fetched.commit},
        partial=partial_reasons(fetched),
        warnings=fetched.warnings,
    )


def fetch_wanted(options: HubOptions, cache: Path, wanted: Wanted) -> Fetched:
    """The same as a document."""
    if wanted.task is None:
        raise ConfigError(
            f"the hub is asked only for what one task needs of {options.origin.repo_id}",
            hint="say which: --task monocular_depth; for a command without that flag, "
            "`rpx data download` writes a manifest to name instead",
        )
    check_split(options.origin, wanted.split, options.recipe)
    access = Access(options.cache(cache), options.max_workers, wanted.watch)
    query = Query(
        task=wanted.task,
        split=wanted.split,
        keys=wanted.keys,
        extra=options.extra,
        recipe=options.recipe,
        max_samples=options.max_samples,
        intrinsics=options.intrinsics,
    )
    return fetch(open_repository(options.origin, access), query)


def partial_reasons(fetched: Fetched) -> tuple[str, ...]:
    """Why this is not the whole of the split."""
    count = len(fetched.samples)
    if count == fetched.of_samples:
        return ()
    return (f"{count} of {count_of(fetched.of_samples, 'sample')} of the repository (max_samples)",)
