"""Files of a repository that would take each other's place in the cache: refused beforehand.

A commit never changes, so what is refused once never comes, and what has its name in the cache
never gives way to another file of its commit.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from rpx_core.errors import ManifestError, first_few
from rpx_core.hub.listing import HubFile, Listing
from rpx_core.hub.store import ARCHIVE

_HINT = "ask the owner of the dataset to publish one of them, or choose another --revision"


def refuse_conflicts(files: Iterable[HubFile], listing: Listing, *, source: str) -> None:
    """Raise ManifestError where another file of the commit has a claim to the place of one.

    An archive claims the folder that it is unpacked to, with all that is in it; any file claims its
    name, however that is spelt: some systems ignore case, or how characters are composed.
    """
    wanted = sorted(files, key=lambda file: file.path)
    named = {_key(file.path): file.path for file in wanted}
    folders = {
        _key(file.path.removesuffix(ARCHIVE)): file.path
        for file in wanted
        if file.path.endswith(ARCHIVE)
    }
    twice: dict[str, list[str]] = {}
    covered: dict[str, list[str]] = {}
    for path in listing.files:
        key = _key(path)
        if named.get(key, path) != path:
            twice.setdefault(named[key], []).append(path)
        for place in _places(key) if folders else ():
            if folders.get(place, path) != path:
                covered.setdefault(folders[place], []).append(path)
    for archive, others in covered.items():
        raise ManifestError(
            f"{source}: {archive} is unpacked to where {first_few(others, 3)} would lie: refused",
            hint=_HINT,
        )
    for path, others in twice.items():
        raise ManifestError(
            f"{source}: {path} and {first_few(others, 3)} are the same file on some systems: "
            "refused",
            hint=_HINT,
        )


def _key(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _places(path: str) -> Iterator[str]:
    """The place of a file, and those of the folders that it is in."""
    yield path
    yield from (parent.as_posix() for parent in PurePosixPath(path).parents)
