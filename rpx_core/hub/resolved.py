"""The manifest of what was fetched, as a file beside its data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rpx_core.atomic import write_atomic
from rpx_core.datasets import Wanted, cache_directory, wanted_by
from rpx_core.documents import to_json, to_pretty_json
from rpx_core.errors import ConfigError, ManifestError
from rpx_core.host import Host
from rpx_core.hub.dataset import HubOptions, fetch_wanted
from rpx_core.hub.fetch import Fetched
from rpx_core.hub.origin import Origin
from rpx_core.hub.store import Snapshot, Store, storing
from rpx_core.manifest import build_manifest


@dataclass(frozen=True)
class Written:
    """A manifest on disk, and what it is of."""

    path: Path
    origin: Origin
    fetched: Fetched

    def document(self) -> dict[str, Any]:
        """The same for `--json`."""
        return {
            "manifest": str(self.path),
            "samples": len(self.fetched.samples),
            "of_samples": self.fetched.of_samples,
            "repo_id": self.origin.repo_id,
            "revision": self.origin.revision,
            "commit": self.fetched.commit,
            "warnings": list(self.fetched.warnings),
        }


def write_manifest(
    task: str, split: str | None, options: Mapping[str, Any], host: Host | None = None
) -> Written:
    """Fetch what a task and split need and write the manifest of it; raises as `fetch` does.

    Its name says what it is of; the same wish finds the same file. What is no sound manifest is
    not written: ManifestError.
    """
    host = host or Host.discover()
    given = _check(options)
    wanted = wanted_by(host, host.find("task", task), split)
    fetched = fetch_wanted(given, cache_directory(), wanted)
    build_manifest(fetched.header, fetched.samples, root=fetched.root, known=wanted.known)
    store = Store.of(given.origin, given.cache(cache_directory()))
    path = fetched.root / _name(wanted, given)
    _refuse_overwriting(path.name, store.snapshot(fetched.commit), given.origin)
    content = to_pretty_json(fetched.document())
    with storing(store):
        # A cache that may only be read serves as well.
        if not path.is_file() or path.read_bytes() != content:
            write_atomic(path, content)
    return Written(path, given.origin, fetched)


def _refuse_overwriting(name: str, snapshot: Snapshot, origin: Origin) -> None:
    """Raise ManifestError where the repository has a file of this name beside its folders."""
    listing = snapshot.read_listing()
    for path in listing.files if listing else ():
        if path.casefold() == name.casefold():
            raise ManifestError(
                f"{origin}: {path} is where the manifest of what was fetched, {name}, would be "
                "written: refused",
                hint=f"run on the repository itself: --data hub:{origin.repo_id}",
            )


def _check(options: Mapping[str, Any]) -> HubOptions:
    try:
        return HubOptions.model_validate(dict(options))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise ConfigError(f"{where}: {problem['msg']}") from error


def _name(wanted: Wanted, options: HubOptions) -> str:
    """Task and split, and a mark where that is not all of it."""
    name = f"{wanted.task}-{wanted.split or 'all'}"
    chosen = options.model_dump(
        mode="json", include={"max_samples", "extra", "recipe", "intrinsics"}, exclude_defaults=True
    )
    mark = f"-{hashlib.sha256(to_json(chosen)).hexdigest()[:8]}" if chosen else ""
    return f"{name}{mark}.json"
