"""Whether content is what was declared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from rpx_core.errors import ManifestError
from rpx_core.hub.listing import HubFile

_UNPACKED = "extracted/"
_BROKEN = "this release is broken; ask its owner, or choose another --revision"


class Check:
    """Digests of the bytes of one hub file, fed as they come."""

    def __init__(self, file: HubFile) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()
        self._sha1 = hashlib.sha1(usedforsecurity=False)
        self._blob = hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
        self._is_git = file.digest.startswith("git:")

    def update(self, content: bytes) -> None:
        """Take more bytes."""
        self._sha256.update(content)
        if self._is_git:
            self._sha1.update(content)
            self._blob.update(content)

    @property
    def sha256(self) -> str:
        """`sha256:...` of all bytes so far."""
        return f"sha256:{self._sha256.hexdigest()}"

    @property
    def matches(self) -> bool:
        """Whether this is the content that the hub lists."""
        kind, _, declared = self._file.digest.partition(":")
        if kind == "git":
            # Mirrors list SHA-1 of the bare content instead of the id of the blob.
            return declared in (self._blob.hexdigest(), self._sha1.hexdigest())
        return not declared or self.sha256 == self._file.digest


def read_checksums(document: Any, *, source: str) -> dict[str, str]:
    """`sha256:...` by path from a `checksums.json` or `file_checksums.json` of the release.

    Paths of unpacked files are relative to the repository, whether or not they are listed below
    `extracted/`. A null says that a file was not hashed.
    """
    table = document.get("sha256") if isinstance(document, Mapping) else None
    if not isinstance(table, Mapping):
        raise ManifestError(
            f"{source}: an object `sha256` of digests by path was expected",
            hint=_BROKEN,
        )
    found = {}
    for path, digest in table.items():
        if digest is None:
            continue
        if not isinstance(digest, str) or len(digest) != 64:
            raise ManifestError(f"{source}: {path}: {digest!r} is no SHA-256", hint=_BROKEN)
        found[path.removeprefix(_UNPACKED)] = f"sha256:{digest.lower()}"
    return found
