"""From a wish (task, split, how much) to records whose files are all in the cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rpx_core.contracts import Difficulty
from rpx_core.documents import read_json
from rpx_core.errors import ConfigError, DownloadError, ManifestError, kind_of
from rpx_core.hub.checksums import read_checksums
from rpx_core.hub.client import Client
from rpx_core.hub.download import Declared, Downloader
from rpx_core.hub.entries import BROKEN, Entry, Translation, Wish
from rpx_core.hub.layouts import CURRENT, Layout, label_versions
from rpx_core.hub.listing import Listing
from rpx_core.hub.origin import Origin, is_commit, is_offline
from rpx_core.hub.recipes import find_recipe, modality_keys
from rpx_core.hub.selection import choose_samples
from rpx_core.hub.store import ARCHIVE, Snapshot, Store, storing
from rpx_core.progress import Watch, watch_nothing

_HEADER = ("version", "description", "license", "pose_convention", "vocabulary", "defaults")
_ARCHIVES = "manifest/checksums.json"
_MEMBERS = "manifest/file_checksums.json"

Pinhole = tuple[float, float, float, float]


@dataclass(frozen=True)
class Query:
    """What is wanted of a repository.

    `keys` are the record keys that the task reads, `extra` further modalities; `recipe` replaces
    the manifest that the task usually has. `max_samples` takes some of the samples, spread evenly.
    `intrinsics` (fx, fy, cx, cy) are for frames of the release, which carries no calibration.
    """

    task: str
    split: str | None
    keys: frozenset[str]
    extra: tuple[str, ...] = ()
    recipe: str | None = None
    max_samples: int | None = None
    intrinsics: Pinhole = (615.0, 615.0, 320.0, 240.0)


@dataclass(frozen=True)
class Fetched:
    """A manifest as one document, whose files are all below `root`."""

    header: Mapping[str, Any]
    samples: tuple[Entry, ...]
    root: Path
    commit: str
    of_samples: int
    """How many there are, where only some were wanted."""
    warnings: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The manifest to write into `root`."""
        return {"schema": "rpx-manifest-1", **self.header, "samples": list(self.samples)}


@dataclass(frozen=True)
class Repository:
    """A repository at one commit: its files, and what of them is in the cache."""

    origin: Origin
    listing: Listing
    downloader: Downloader

    @cached_property
    def layout(self) -> Layout:
        """Where its files are."""
        current = self.read(CURRENT) if CURRENT in self.listing.files else None
        return Layout(self.listing, label_versions(current))

    @property
    def snapshot(self) -> Snapshot:
        """What is in the cache."""
        return self.downloader.snapshot

    def read(self, path: str) -> Any:
        """A small JSON file of the repository."""
        file = self.listing.files[path]
        self.downloader.ensure([file])
        try:
            return read_json(self.snapshot.path(file), source=f"{self.origin}: {path}")
        except ManifestError as error:
            raise ManifestError(error.message, hint=BROKEN) from error

    def read_manifests(self, query: Query) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The published manifest, of all splits as one where none is named, and what it lacks."""
        recipe = find_recipe(self.listing, self.origin, query.task, query.split, query.recipe)
        documents = [_in_split(self._read_manifest(path), path) for path in recipe.paths]
        whole = {**documents[0], "samples": [one for doc in documents for one in doc["samples"]]}
        if not whole["samples"]:
            raise ManifestError(
                f"{self.origin}: {', '.join(recipe.paths)} lists no samples",
                hint="choose another --split or --revision",
            )
        return whole, recipe.adds

    def declared(self, archives: bool) -> Declared:
        """The checksums that the release declares; of unpacked files only where `archives` come."""
        found = {
            path: read_checksums(self.read(path), source=f"{self.origin}: {path}")
            if path in self.listing.files and archives
            else {}
            for path in (_ARCHIVES, _MEMBERS)
        }
        return Declared(found[_ARCHIVES], found[_MEMBERS])

    def _read_manifest(self, path: str) -> dict[str, Any]:
        document = self.read(path)
        if not isinstance(document, dict) or not isinstance(document.get("samples"), list):
            raise ManifestError(
                f"{self.origin}: {path}: an object with a list `samples` was expected",
                hint=BROKEN,
            )
        return document


@dataclass(frozen=True)
class Access:
    """How a repository is reached: where its cache is, how many files come at a time."""

    cache: Path
    max_workers: int = 8
    watch: Watch = watch_nothing
    client: Client | None = None


def open_repository(origin: Origin, access: Access) -> Repository:
    """The repository at the commit that its revision is; without network, that it last was."""
    if access.max_workers < 1:
        raise ConfigError(f"max_workers is {access.max_workers}; at least 1 was expected")
    store = Store.of(origin, access.cache)
    client = access.client or Client(origin)
    commit = _resolve(store, client)
    snapshot = store.snapshot(commit)
    listing = snapshot.read_listing()
    if listing is None:
        if is_offline():
            raise _unknown(store, origin)
        listing = client.list_files(commit)
        with storing(store):
            snapshot.write_listing(listing)
    downloader = Downloader(client, store, snapshot, listing, access.watch, access.max_workers)
    return Repository(origin, listing, downloader)


def fetch(repository: Repository, query: Query) -> Fetched:
    """Have everything that the query needs in the cache, and nothing else; then say where.

    Raises DownloadError or ManifestError before anything is left half: a manifest is only made
    when all files that it lists are there.
    """
    raw, adds = repository.read_manifests(query)
    name = query.recipe or query.task
    wish = Wish(query.keys, (*adds, *modality_keys(query.extra)))
    root = str(raw.get("root") or "").strip("./")
    translation = Translation(f"{repository.origin}: {name}", repository.layout, wish, root)
    records = translation.translate(raw["samples"])
    chosen = choose_samples(records, query.max_samples)
    files = set(translation.places(chosen))
    missing = [f for f in files if f.path.endswith(ARCHIVE) and not repository.snapshot.has(f)]
    repository.downloader.ensure(files, repository.declared(bool(missing)))
    samples = [translation.resolve(dict(record), repository.snapshot) for record in chosen]
    return Fetched(
        header=_header(raw, query, repository),
        samples=tuple(samples),
        root=repository.snapshot.root,
        commit=repository.snapshot.commit,
        of_samples=len(records),
        warnings=translation.warnings,
    )


def _in_split(document: dict[str, Any], path: str) -> dict[str, Any]:
    """The manifest with the difficulty of its records that its name says, where it says one.

    Records of some releases name none, or that of their phase instead of their scene.
    """
    split = path.rpartition("/")[2].removesuffix(".json")
    if split not in set(Difficulty):
        return document
    samples = [
        {**one, "difficulty": split} if isinstance(one, dict) else one
        for one in document["samples"]
    ]
    return {**document, "samples": samples}


def _header(raw: Mapping[str, Any], query: Query, repository: Repository) -> dict[str, Any]:
    header = {key: raw[key] for key in _HEADER if raw.get(key)}
    if repository.layout.is_packed:
        nominal = dict(zip(("fx", "fy", "cx", "cy"), query.intrinsics, strict=True))
        declared = header.get("defaults", {})
        if not isinstance(declared, Mapping):
            raise ManifestError(
                f"{repository.origin}: defaults are {kind_of(declared)}; an object was expected",
                hint=BROKEN,
            )
        header["defaults"] = {"intrinsics": nominal, **declared}
    split = {"split": query.split} if query.split not in (None, "all") else {}
    name = repository.origin.repo_id.rpartition("/")[2]
    return {"name": name, "task": query.task, **split, **header}


def _resolve(store: Store, client: Client) -> str:
    revision = client.origin.revision
    if is_commit(revision):
        return revision
    if is_offline():
        known = store.read_ref(revision)
        if known is None or not is_commit(known):
            raise _unknown(store, client.origin)
        return known
    commit = client.resolve()
    with storing(store):
        store.write_ref(revision, commit)
    return commit


def _unknown(store: Store, origin: Origin) -> DownloadError:
    return DownloadError(
        f"nothing of {origin} is in the cache, and HF_HUB_OFFLINE forbids to fetch it",
        hint="unset HF_HUB_OFFLINE, or run `rpx data download` where there is a network and copy "
        f"{store.root} here",
    )
