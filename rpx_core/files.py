"""Reading the files that a manifest lists, without trusting it.

A manifest may come from anyone. So a listed name is only ever read below the dataset root, as a
regular file, up to a size limit, and every failure is one `ManifestError` that names it.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import stat
import unicodedata
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from rpx_core.errors import ManifestError, RPXError

MEBIBYTE = 2**20
FILE_LIMIT = 512 * MEBIBYTE
"""Bytes of the largest listed file that is read: 64 Mpx of float64."""

_MAX_DIGESTS = 4096
_CHECKSUM = re.compile(r"sha256:[0-9a-fA-F]{64}")
_DRIVE = re.compile(r"[A-Za-z]:")

# A FIFO must not block, nor a terminal become ours, nor the last link be swapped after the check.
_OPEN_FLAGS = os.O_RDONLY | sum(
    getattr(os, flag, 0)
    for flag in ("O_NONBLOCK", "O_NOCTTY", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY")
)


class Stamp(NamedTuple):
    """What a file was when it was read: equal size and time stand for equal content."""

    size: int
    mtime_ns: int
    digest: str
    """"sha256:..." of the content."""


@dataclass(frozen=True)
class Files:
    """The files of one dataset: read by the names that its manifest lists, and only those.

    A name is a POSIX path relative to `root`; an absolute one must resolve inside it. Links are
    followed, but must end below `root` or one of `also` (a hub cache keeps the content that its
    snapshots link to beside them). Names are tried as written, then in Unicode NFC, then NFD, so
    a manifest written on one system finds the files that another has unpacked. Values are
    picklable; the digests known so far stay behind. Every refusal is a `ManifestError`.
    """

    root: Path
    also: Sequence[Path] = ()
    declared: Mapping[str, str] = field(default_factory=dict)
    """Checksums by name, verified whenever that file is read."""
    stamps: dict[str, Stamp] | None = field(default=None, repr=False, compare=False)
    """Where every file that is read is noted, by its name."""
    _digests: OrderedDict[tuple[Path, int, int], str] = field(
        default_factory=OrderedDict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(self.root).resolve())
        object.__setattr__(self, "also", tuple(Path(folder).resolve() for folder in self.also))

    def __reduce__(self) -> tuple[object, ...]:
        return (Files, (self.root, self.also, self.declared))

    def declaring(
        self, checksums: Mapping[str, str], stamps: dict[str, Stamp] | None = None
    ) -> Files:
        """The same files, held to these checksums too; what is known of digests is shared.

        Every file that is read is noted in `stamps`.
        """
        declared = {self._plain(name): checksum for name, checksum in checksums.items()}
        view = Files(self.root, self.also, {**self.declared, **declared}, stamps)
        object.__setattr__(view, "_digests", self._digests)
        return view

    def locate(self, name: str) -> Path:
        """The resolved path of a listed file that exists inside the allowed folders."""
        _refuse_tricks(name)
        for spelling in _spell(name):
            path = Path(os.path.realpath(self.root / spelling))
            if not any(path.is_relative_to(folder) for folder in (self.root, *self.also)):
                raise ManifestError(
                    f"file {quote(name)} leads outside the dataset root",
                    hint=f"list files by paths below {self.root}; links must stay inside it too",
                )
            if _is_there(path, name):
                return path
        if not self.root.is_dir():
            raise ManifestError(
                f"file {quote(name)} cannot be read: the dataset root {self.root} is not a folder",
                hint="check the manifest's root, or download the data again",
            )
        raise ManifestError(
            f"file {quote(name)} is missing",
            hint=f"it was expected below {self.root}; correct the manifest or fetch the file",
        )

    def read(self, name: str, *, limit: int = FILE_LIMIT, checksum: str | None = None) -> bytes:
        """The whole content of a listed file, at most `limit` bytes.

        A declared `checksum` ("sha256:" and 64 hexadecimal digits) is verified on these bytes.
        """
        path, source = self.locate(name), f"file {quote(name)}"
        checksum = checksum if checksum is not None else self.declared.get(self._plain(name))
        with _open_resolved(path, source, ManifestError) as stream:
            status = os.fstat(stream.fileno())
            content = _read_all(stream, source, limit)
        actual = "sha256:" + hashlib.sha256(content).hexdigest()
        if checksum is not None:
            _verify(name, checksum, actual)
        self._remember((path, status.st_size, status.st_mtime_ns), actual)
        if self.stamps is not None:
            self.stamps[name] = Stamp(status.st_size, status.st_mtime_ns, actual)
        return content

    def has_changed(self, name: str, was: Stamp) -> bool:
        """Whether a listed file holds something else than when it was stamped."""
        status = os.stat(self.locate(name))
        if (status.st_size, status.st_mtime_ns) == (was.size, was.mtime_ns):
            return False
        return status.st_size != was.size or self.digest(name) != was.digest

    def digest(self, name: str) -> str:
        """The "sha256:..." of a listed file's content.

        Remembered by path, size and modification time, also from reads, for the thousands of
        files used last.
        """
        path, source = self.locate(name), f"file {quote(name)}"
        with _open_resolved(path, source, ManifestError) as stream:
            status = os.fstat(stream.fileno())
            key = (path, status.st_size, status.st_mtime_ns)
            known = self._digests.get(key)
            if known is None:
                try:
                    known = "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()
                except OSError as problem:
                    raise _unreadable(source, problem, ManifestError) from problem
        self._remember(key, known)
        return known

    def _plain(self, name: str) -> str:
        """One spelling of a name, so that a checksum holds however its file is written."""
        if os.path.isabs(name) and Path(name).is_relative_to(self.root):
            name = Path(name).relative_to(self.root).as_posix()
        return unicodedata.normalize("NFC", posixpath.normpath(name))

    def _remember(self, key: tuple[Path, int, int], digest: str) -> None:
        # Bounded: a worker's memory must not grow with the number of samples.
        self._digests[key] = digest
        while len(self._digests) > _MAX_DIGESTS:
            self._digests.popitem(last=False)


def expand_home(path: str | Path) -> Path:
    """The path with `~` spelt out; that of a user who does not exist stays as it is."""
    return Path(os.path.expanduser(path))


def quote(name: object) -> str:
    """A name as an error shows it: escaped, and cut when it is absurdly long."""
    text = repr(name)
    return text if len(text) <= 200 else f"{text[:160]}... ({len(text)} characters)"


def open_file(path: Path, *, source: str, error: type[RPXError] = ManifestError) -> BufferedReader:
    """Open a regular file for reading; anything else is refused without blocking.

    `source` is how errors name the file; they are raised as `error`.
    """
    try:
        return _open_resolved(Path(os.path.realpath(path)), source, error)
    except ValueError as problem:  # NUL bytes, unpaired surrogates
        raise error(f"{source} cannot be read: {problem}") from problem


def read_file(
    path: Path, *, source: str, limit: int, error: type[RPXError] = ManifestError
) -> bytes:
    """The whole content of a regular file, refused by its size before anything is read."""
    with open_file(path, source=source, error=error) as stream:
        return _read_all(stream, source, limit, error)


def _refuse_tricks(name: str) -> None:
    if not isinstance(name, str):
        raise ManifestError(f"a file's path was expected, found {quote(name)}")
    if not name:
        raise ManifestError("a file's path is empty", hint="leave the key out instead")
    problem = None
    if "\0" in name:
        problem = "holds a NUL byte"
    elif "\\" in name:
        problem = "holds a backslash"
    elif _DRIVE.match(name):
        problem = "starts with a drive letter"
    elif ".." in name.split("/"):
        problem = "climbs with '..'"
    else:
        try:
            os.fsencode(name)
        except UnicodeEncodeError:
            problem = "holds an unpaired surrogate"
    if problem:
        raise ManifestError(
            f"file {quote(name)} is refused: its path {problem}",
            hint="list files by '/'-separated paths relative to the dataset root",
        )


def _spell(name: str) -> list[str]:
    return list(
        dict.fromkeys((name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))))
    )


def _is_there(path: Path, name: str) -> bool:
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as problem:
        raise _unreadable(f"file {quote(name)}", problem, ManifestError) from problem
    return True


def _open_resolved(path: Path, source: str, error: type[RPXError]) -> BufferedReader:
    try:
        # Looked at before opening: to open a device can already act on it.
        _refuse_irregular(os.lstat(path).st_mode, source, error)
        descriptor = os.open(path, _OPEN_FLAGS)
    except OSError as problem:
        raise _unreadable(source, problem, error) from problem
    stream = os.fdopen(descriptor, "rb")
    try:
        _refuse_irregular(os.fstat(descriptor).st_mode, source, error)
    except RPXError:
        stream.close()
        raise
    return stream


def _refuse_irregular(mode: int, source: str, error: type[RPXError]) -> None:
    if stat.S_ISREG(mode):
        return
    kind = "a folder" if stat.S_ISDIR(mode) else "a device, pipe or socket"
    raise error(f"{source} is {kind}; a regular file was expected")


def _read_all(
    stream: BufferedReader, source: str, limit: int, error: type[RPXError] = ManifestError
) -> bytes:
    try:
        size = os.fstat(stream.fileno()).st_size
        if size > limit:
            raise error(
                f"{source} has {size / MEBIBYTE:,.1f} MiB; "
                f"at most {limit / MEBIBYTE:,.1f} MiB are read"
            )
        # One byte more than announced shows a file that grows.
        content = stream.read(size + 1)
    except OSError as problem:
        raise _unreadable(source, problem, error) from problem
    if len(content) != size:
        raise error(f"{source} changed while it was read", hint="wait until it is complete")
    return content


def _unreadable(source: str, problem: OSError, error: type[RPXError]) -> RPXError:
    if isinstance(problem, FileNotFoundError):
        return error(f"{source} is missing")
    return error(f"{source} cannot be read: {problem.strerror or problem}")


def _verify(name: str, declared: str, actual: str) -> None:
    if not _CHECKSUM.fullmatch(declared):
        raise ManifestError(
            f"file {quote(name)} declares the checksum {quote(declared)}; "
            "expected 'sha256:' and 64 hexadecimal digits"
        )
    if declared.lower() != actual:
        raise ManifestError(
            f"file {quote(name)} differs from its declared checksum: "
            f"expected {declared.lower()}, found {actual}",
            hint="fetch the file again, or write the manifest anew if the change is meant",
        )
