"""Taking over from another commit what has not changed: a new one is often a few files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from rpx_core.hub.checksums import Check
from rpx_core.hub.listing import HubFile, Listing
from rpx_core.hub.store import ARCHIVE, Snapshot, Store
from rpx_core.hub.transport import CHUNK
from rpx_core.identity import file_digest


def adopt_all(store: Store, snapshot: Snapshot, files: Sequence[HubFile]) -> list[HubFile]:
    """Take over the files whose content another commit has, as hard links where that works.

    Returns those that none has. What has been damaged since it was fetched is not taken.
    """
    others = [
        (other, listing)
        for other in store.others(snapshot.commit)
        if files and (listing := other.read_listing()) is not None
    ]
    return [file for file in files if not _adopt(store, snapshot, file, others)]


def _adopt(
    store: Store, snapshot: Snapshot, file: HubFile, others: Sequence[tuple[Snapshot, Listing]]
) -> bool:
    for other, listing in others:
        same = listing.files.get(file.path)
        if not file.digest or same is None or same.digest != file.digest:
            continue
        if other.has(same) and _is_sound(other, same):
            _link(store, snapshot, file, other.path(same))
            return True
    return False


def _link(store: Store, snapshot: Snapshot, file: HubFile, source: Path) -> None:
    scratch = store.scratch()
    try:
        copy = scratch / "copy"
        if file.path.endswith(ARCHIVE):
            shutil.copytree(source, copy, copy_function=_link_or_copy)
            snapshot.put_folder(copy, file)
        else:
            _link_or_copy(str(source), str(copy))
            snapshot.put_file(copy, file)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _is_sound(snapshot: Snapshot, file: HubFile) -> bool:
    path = snapshot.path(file)
    members = snapshot.members(file) if file.path.endswith(ARCHIVE) else None
    if members is not None:
        return all(file_digest(path / name) == one.sha256 for name, one in members.by_path.items())
    check = Check(file)
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            check.update(chunk)
    return check.matches


def _link_or_copy(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    return target
