"""A repository in the cache: what of each commit is there, whole and verified."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from rpx_core.atomic import write_atomic
from rpx_core.documents import read_json, to_json
from rpx_core.errors import DownloadError, RPXError
from rpx_core.hub.archives import MEMBERS, Members, read_members
from rpx_core.hub.listing import HubFile, Listing, read_listing
from rpx_core.hub.origin import Origin, hub_cache
from rpx_core.identity import file_digest

LISTING = ".rpx-listing.json"
ARCHIVE = ".tar"
_SCRATCH = "unpack-"
_ABANDONED_S = 24 * 3600.0
"""Age at which a folder is taken for one of a killed process, where others may be at work."""


@dataclass(frozen=True)
class Store:
    """The folder of one repository: `commits/<commit>/...`, `refs/`, and `incoming/`."""

    root: Path

    @classmethod
    def of(cls, origin: Origin, cache: Path) -> Store:
        """The store of a repository inside a cache."""
        return cls(hub_cache(cache) / origin.folder)

    @property
    def lock(self) -> Path:
        """The file that whoever writes here locks."""
        return self.root / "lock"

    def read_ref(self, revision: str) -> str | None:
        """The commit that a revision was when it was last asked for."""
        try:
            return self._ref(revision).read_text(encoding="ascii").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            return None

    def write_ref(self, revision: str, commit: str) -> None:
        """Remember that, for work without network."""
        if self.read_ref(revision) != commit:
            write_atomic(self._ref(revision), f"{commit}\n".encode())

    def snapshot(self, commit: str) -> Snapshot:
        """What is there of a commit."""
        return Snapshot(self.root / "commits" / commit)

    def others(self, commit: str) -> Iterator[Snapshot]:
        """What is there of other commits."""
        with suppress(FileNotFoundError):
            for folder in sorted((self.root / "commits").iterdir()):
                if folder.name != commit:
                    yield Snapshot(folder)

    @contextmanager
    def receiving(self, *, alone: bool) -> Iterator[Path]:
        """The folder where files lie while they come.

        Whoever is alone here sweeps up what killed processes left half made, and any later call
        continues its files. Others get a folder for themselves, which is gone afterwards.
        """
        if alone:
            self._sweep(0)
            yield self._incoming()
            return
        self._sweep(_ABANDONED_S)
        own = self.scratch()
        try:
            yield own
        finally:
            shutil.rmtree(own, ignore_errors=True)

    def scratch(self) -> Path:
        """A new folder to prepare something in; on the same file system, to be renamed."""
        return Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=self._incoming()))

    def _incoming(self) -> Path:
        folder = self.root / "incoming"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _sweep(self, age_s: float) -> None:
        for folder in self._incoming().glob(f"{_SCRATCH}*"):
            with suppress(FileNotFoundError):
                if time.time() - folder.stat().st_mtime >= age_s:
                    shutil.rmtree(folder, ignore_errors=True)

    def _ref(self, revision: str) -> Path:
        return self.root / "refs" / quote(revision, safe="")


@dataclass(frozen=True)
class Snapshot:
    """One commit in the cache. What has its name there is complete."""

    root: Path
    _members: dict[str, Members] = field(default_factory=dict, compare=False)
    _digests: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def commit(self) -> str:
        """The commit."""
        return self.root.name

    def read_listing(self) -> Listing | None:
        """What the commit holds, where that is known."""
        path = self.root / LISTING
        if not path.is_file():
            return None
        try:
            return read_listing(read_json(path, error=DownloadError))
        except (ValueError, TypeError, DownloadError):
            # Not ours, or of another version: it is asked for again.
            return None

    def write_listing(self, listing: Listing) -> None:
        """Remember what the commit holds, which never changes."""
        write_atomic(self.root / LISTING, to_json(listing.document()))

    def path(self, file: HubFile) -> Path:
        """Where a file is, or the folder of an unpacked archive."""
        return self.root / file.path.removesuffix(ARCHIVE)

    def has(self, file: HubFile) -> bool:
        """Whether a file is there in its size, or an archive with all its members in theirs."""
        path = self.path(file)
        if file.path.endswith(ARCHIVE):
            return self.members(file) is not None
        with suppress(OSError):
            status = path.stat()
            return stat.S_ISREG(status.st_mode) and status.st_size == file.size
        return False

    def members(self, file: HubFile) -> Members | None:
        """The members of an unpacked archive; None unless all of them are there."""
        if file.path not in self._members:
            folder = self.path(file)
            found = read_members(folder)
            if found is None or not _all_there(folder, found):
                return None
            self._members[file.path] = found
        return self._members[file.path]

    def sha256(self, file: HubFile) -> str:
        """`sha256:...` of a file that is there, as it was verified; of a small one, as it is."""
        if file.digest.startswith("sha256:"):
            return file.digest
        if file.path not in self._digests:
            self._digests[file.path] = file_digest(self.path(file))
        return self._digests[file.path]

    def put_file(self, ready: Path, file: HubFile) -> None:
        """Give a verified file its name."""
        target = self.path(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(ready, target)

    def put_folder(self, ready: Path, file: HubFile) -> None:
        """Give an unpacked archive its name; a damaged one that is there gives way."""
        target = self.path(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        ready.chmod(0o755)
        if target.exists():
            if self.members(file) is not None:
                return
            shutil.rmtree(target)
        os.rename(ready, target)


@contextmanager
def storing(store: Store) -> Iterator[None]:
    """Inside, failures to write are a DownloadError that says what to do."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise DownloadError(
            f"{error.filename or store.root} cannot be written: {error.strerror or error}",
            hint="free some space, or set RPX_CACHE_DIR to a folder with room; what was fetched "
            "is kept"
            if full
            else "set RPX_CACHE_DIR to a folder that you may write",
        ) from error
    except RPXError as error:
        if isinstance(error.__cause__, OSError) and not isinstance(error, DownloadError):
            raise DownloadError(error.message, hint=error.hint) from error.__cause__
        raise


def part_name(file: HubFile) -> str:
    """What a file is called while it comes."""
    # By path too: two files of equal content may come at the same time.
    return hashlib.sha256(f"{file.digest} {file.path}".encode()).hexdigest()


def _all_there(folder: Path, members: Members) -> bool:
    found: dict[str, int] = {}
    for place, _, names in os.walk(folder):
        relative = Path(place).relative_to(folder)
        for name in names:
            with suppress(OSError):
                found[(relative / name).as_posix()] = os.stat(os.path.join(place, name)).st_size
    found.pop(MEMBERS, None)
    return all(found.get(name) == member.size for name, member in members.by_path.items())
