"""The published functions for datasets on the Hugging Face Hub, with their published signatures.

Unlike the originals they verify every file, take `max_samples` evenly instead of from the start,
read the released layout of archives, and return a manifest only when all its files are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rpx_core.contracts import Difficulty, TaskType
from rpx_core.names import OFFICIAL_TASKS
from rpx_core.published.datasets import RPXDataset

if TYPE_CHECKING:
    from huggingface_hub import HfFileSystem

__all__ = ["download_split", "fetch_manifest", "load", "mount"]


def fetch_manifest(
    task: TaskType | str,
    split: Difficulty | str,
    repo_id: str | None = None,
    cache_dir: str | Path | None = None,
    revision: str | None = None,
) -> dict[str, Any]:
    """The manifest of a task and split as the repository publishes it; no data is fetched.

    `repo_id` and `revision` default to $RPX_HF_REPO and $RPX_HF_REVISION, else to the RPX release
    at its audited commit. Raises ConfigError for a task or split that nobody knows, before the hub
    is asked, DownloadError when the hub does not give it, ManifestError when there is none or it
    is broken.
    """
    from rpx_core.datasets import cache_directory
    from rpx_core.hub.fetch import Access, Query, open_repository
    from rpx_core.hub.origin import choose_origin
    from rpx_core.hub.splits import check_split

    name, origin = _known(task), choose_origin(repo_id, revision)
    check_split(origin, str(split))
    cache = Path(cache_dir) if cache_dir else cache_directory()
    repository = open_repository(origin, Access(cache))
    manifest, _ = repository.read_manifests(Query(name, str(split), frozenset()))
    return manifest


def download_split(
    task: TaskType | str,
    split: Difficulty | str,
    repo_id: str | None = None,
    cache_dir: str | Path | None = None,
    revision: str | None = None,
    extra_modalities: Sequence[str] | None = None,
    max_workers: int = 8,
    *,
    max_samples: int | None = None,
) -> Path:
    """Fetch what a task and split need, and nothing else; the path of a manifest of it.

    The manifest lists the files where they are, with their checksums. `extra_modalities` adds
    pose, depth, mask or fisheye to the records; `max_samples` takes that many, spread evenly over
    scenes, phases and frames. What is in the cache is used again, also by other tasks and splits.
    Raises as `fetch_manifest` does, and never leaves a part.
    """
    from rpx_core.hub.resolved import write_manifest

    options = {
        "repo_id": repo_id,
        "revision": revision,
        "cache_dir": cache_dir,
        "extra": tuple(extra_modalities or ()),
        "max_workers": max_workers,
        "max_samples": max_samples,
    }
    return write_manifest(str(task), str(split), options).path


def load(
    task: TaskType | str,
    split: Difficulty | str,
    repo_id: str | None = None,
    cache_dir: str | Path | None = None,
    revision: str | None = None,
    extra_modalities: Sequence[str] | None = None,
    max_workers: int = 8,
    batch_size: int = 1,
    *,
    max_samples: int | None = None,
) -> RPXDataset:
    """The samples of a task and split, after `download_split` with the same arguments."""
    path = download_split(
        task,
        split,
        repo_id,
        cache_dir,
        revision,
        extra_modalities,
        max_workers,
        max_samples=max_samples,
    )
    return RPXDataset.from_manifest(path, batch_size, task=task)


def mount(repo_id: str | None = None, revision: str | None = None) -> tuple[HfFileSystem, str]:
    """The repository as a file system that reads from the hub, and the prefix of its paths.

    For looking around: nothing is cached or verified. Raises DownloadError without a network.
    """
    from huggingface_hub import HfFileSystem

    from rpx_core.hub.client import Client
    from rpx_core.hub.origin import choose_origin, endpoint

    origin = choose_origin(repo_id, revision)
    commit = Client(origin).resolve()
    return HfFileSystem(endpoint=endpoint()), f"datasets/{origin.repo_id}@{commit}"


def _known(task: TaskType | str) -> str:
    """The bare name, by which manifests go, of a task that is installed or that one of ours has."""
    from rpx_core.host import Host

    distribution, _, name = str(task).rpartition("/")
    if name not in OFFICIAL_TASKS or distribution not in {"", OFFICIAL_TASKS[name]}:
        Host.discover().find("task", str(task))
    return name
