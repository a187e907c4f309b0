"""A file on its way: what of it is here, and whether it is what the hub lists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rpx_core.hub.checksums import Check
from rpx_core.hub.listing import HubFile
from rpx_core.hub.transport import CHUNK, Response, UnreachableError

Advance = Callable[[int], None]


class Incoming:
    """The first bytes of a hub file at a path of our own, which an earlier call may have left."""

    def __init__(self, file: HubFile, path: Path, advance: Advance) -> None:
        self.file = file
        self.path = path
        self.have = 0
        self._check = Check(file)
        self._advance = advance
        self._most = 0
        path.touch()
        if path.stat().st_size <= file.size:
            self._take_what_is_there()
        else:
            self.restart()

    @property
    def is_whole(self) -> bool:
        """Whether all bytes are here."""
        return self.have == self.file.size

    @property
    def matches(self) -> bool:
        """Whether they are those that the hub lists."""
        return self._check.matches

    @property
    def sha256(self) -> str:
        """`sha256:...` of the bytes that are here."""
        return self._check.sha256

    @property
    def headers(self) -> dict[str, str]:
        """What to ask for: the rest."""
        return {"Range": f"bytes={self.have}-"} if self.have else {}

    def grew(self) -> bool:
        """Whether more is here than ever before this was asked."""
        grown = self.have > self._most
        # Also over restarts: a server without ranges that always breaks off must not go on forever.
        self._most = max(self._most, self.have)
        return grown

    def take(self, answer: Response) -> None:
        """Append an answer; raises UnreachableError when it ends too early or too late."""
        if answer.status != 206 and self.have:
            # The server does not do ranges: this is the file from its beginning.
            self.restart()
        with self.path.open("ab") as stream:
            for chunk in answer.chunks:
                if self.have + len(chunk) > self.file.size:
                    raise UnreachableError(f"more than {self.file.size} bytes were sent")
                stream.write(chunk)
                # Nothing is left to be written later, when this thread may have been called away.
                stream.flush()
                self._count(chunk)
        if not self.is_whole:
            raise UnreachableError(f"{self.have} of {self.file.size} bytes were sent")

    def restart(self) -> None:
        """Forget what is here."""
        self.path.write_bytes(b"")
        self._advance(-self.have)
        self.have = 0
        self._check = Check(self.file)

    def _take_what_is_there(self) -> None:
        with self.path.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                self._count(chunk)

    def _count(self, chunk: bytes) -> None:
        self._check.update(chunk)
        self.have += len(chunk)
        self._advance(len(chunk))
