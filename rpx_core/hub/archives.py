"""Unpacking an archive that anyone may have made: only files, only inside, only once each."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tarfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Self

from rpx_core.documents import read_json, to_json
from rpx_core.errors import ManifestError, RPXError
from rpx_core.files import FILE_LIMIT, quote

MEMBERS = ".members.json"
"""Beside the files of an unpacked archive: their sizes and digests."""

_MOST_MEMBERS = 200_000
_DEEPEST = 16
_LONGEST_PART = 200
_CHUNK = 1 << 20
_LONGEST_HEADER = 1 << 20
_HEADERS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, *tarfile.GNU_TYPES)
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]|[. ]$')
_HINT = "do not trust this repository; ask its owner for a sound archive"


@dataclass(frozen=True)
class Member:
    """One file of an unpacked archive, by its name there."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Members:
    """The files of an unpacked archive, by the path of each in its folder."""

    by_path: Mapping[str, Member]

    def find(self, listed: str) -> str | None:
        """The path of the member that a manifest means: by name, or by stem.

        The release was repacked with other endings (WebP for PNG) than some manifests list.
        """
        found = self._by_name.get(listed)
        if found is not None:
            return found
        alike = self._by_stem.get(PurePosixPath(listed).stem, [])
        return alike[0] if len(alike) == 1 else None

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return {member.name: path for path, member in self.by_path.items()}

    @cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self.by_path:
            found.setdefault(PurePosixPath(path).stem, []).append(path)
        return found


@dataclass(frozen=True)
class Unpacking:
    """An archive to unpack: what errors call it, its own digest, and digests of its members.

    `declared` are by name in the archive; a member that differs is refused, as is the archive.
    `check` is called again and again, and ends the work by what it raises.
    """

    source: str
    sha256: str
    declared: Mapping[str, str]
    check: Callable[[], None] = lambda: None


def unpack(archive: Path, folder: Path, unpacking: Unpacking) -> None:
    """Write the members of a tar into a new folder, less the folders that all of them share.

    Refuses, with ManifestError naming the member: absolute names, `..`, links, devices, pipes,
    sparse files, names that other systems read differently, and those that occur twice or
    differ in case alone. Nothing is written outside `folder`, which is removed after a failure.
    """
    folder.mkdir(parents=True)
    with ExitStack() as failure:
        failure.callback(shutil.rmtree, folder, ignore_errors=True)
        try:
            _unpack(archive, folder, unpacking)
        except (tarfile.TarError, EOFError, ValueError, RecursionError) as error:
            raise ManifestError(
                f"{unpacking.source}: is no sound tar: {error}", hint=_HINT
            ) from error
        failure.pop_all()


def read_members(folder: Path) -> Members | None:
    """The members of an unpacked archive; None where the folder is none."""
    path = folder / MEMBERS
    if not path.is_file():
        return None
    try:
        match read_json(path):
            case {"schema": "rpx-members-1", "members": [*rows]}:
                return Members({str(path): Member(*rest) for path, *rest in rows})
    except (RPXError, TypeError, ValueError):
        return None  # Damaged: it is unpacked again.
    return None


def _unpack(archive: Path, folder: Path, unpacking: Unpacking) -> None:
    # Plain tars only: what a compressed one unfolds to is not bounded by its size.
    with tarfile.open(archive, "r:", tarinfo=_Header) as tar:
        names = _check_members(tar, unpacking)
        shared = _shared_folder(names)
        rows = []
        for member, name in names.items():
            target = PurePosixPath(name).relative_to(shared)
            stream = tar.extractfile(member)
            if stream is None:
                raise tarfile.TarError(f"{name} has no content")
            digest = _write(stream, folder / target, member.size, unpacking.check)
            if unpacking.declared.get(name, digest) != digest:
                raise ManifestError(
                    f"{unpacking.source}: {name} differs from its checksum in file_checksums.json",
                    hint="the release contradicts itself; ask its owner, or choose another "
                    "--revision",
                )
            rows.append([target.as_posix(), name, member.size, digest])
    document = {"schema": "rpx-members-1", "archive": unpacking.sha256, "members": rows}
    (folder / MEMBERS).write_bytes(to_json(document))


class _Header(tarfile.TarInfo):
    """A header; one that describes the next member is read into memory, and must be short."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """As the base class, but ValueError for what would take all memory."""
        header = super().frombuf(buf, encoding, errors)
        if header.type in _HEADERS and header.size > _LONGEST_HEADER:
            raise ValueError(f"a header of {header.size} bytes")
        return header


def _check_members(tar: tarfile.TarFile, unpacking: Unpacking) -> dict[tarfile.TarInfo, str]:
    """The files of an archive with their names, all looked at before anything is written."""
    source = unpacking.source
    names: dict[tarfile.TarInfo, str] = {}
    taken: dict[str, str] = {}
    folders: set[str] = set()
    for count, member in enumerate(tar):
        unpacking.check()
        problem = _problem(member) if count < _MOST_MEMBERS else "is one too many"
        if problem:
            raise ManifestError(f"{source}: {quote(member.name)} {problem}: refused", hint=_HINT)
        name = _normal(member.name)
        if member.isdir():
            continue
        # Two names are one file where the file system ignores case or composes characters.
        key = name.casefold()
        if key in taken:
            raise ManifestError(
                f"{source}: {quote(taken[key])} and {quote(member.name)} are the same file on "
                "some systems: refused",
                hint=_HINT,
            )
        taken[key] = member.name
        folders.update(parent.as_posix() for parent in PurePosixPath(key).parents)
        names[member] = name
    for key in folders & taken.keys():
        raise ManifestError(
            f"{source}: {quote(taken[key])} is a file and a folder: refused", hint=_HINT
        )
    return names


def _problem(member: tarfile.TarInfo) -> str | None:
    """Why a member is refused, if it is."""
    parts = member.name.split("/")
    named = [part for part in parts if part not in ("", ".")]
    problems = {
        "is an absolute name": member.name.startswith("/"),
        "climbs with '..'": ".." in parts,
        "has no name": not named and not member.isdir(),
        "is a name that not every system can hold": not member.name.isprintable()
        or any(_FORBIDDEN.search(part) for part in named),
        f"has the name of our own list, {MEMBERS}": MEMBERS in named,
        "is too long a name": len(parts) > _DEEPEST
        or any(len(part.encode(errors="replace")) > _LONGEST_PART for part in parts),
        "is a link": member.issym() or member.islnk(),
        "is a device or pipe": not (
            member.isreg() or member.isdir() or member.issym() or member.islnk()
        ),
        "is a sparse file": member.issparse(),
        f"has {member.size} bytes, more than any frame": member.size > FILE_LIMIT,
    }
    return next((text for text, applies in problems.items() if applies), None)


def _normal(name: str) -> str:
    parts = [
        part for part in unicodedata.normalize("NFC", name).split("/") if part not in ("", ".")
    ]
    return "/".join(parts)


def _shared_folder(names: Mapping[tarfile.TarInfo, str]) -> PurePosixPath:
    folders = {PurePosixPath(name).parent.as_posix() for name in names.values()}
    return PurePosixPath(os.path.commonpath(folders)) if folders else PurePosixPath()


def _write(stream: IO[bytes], target: Path, size: int, check: Callable[[], None]) -> str:
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with target.open("xb") as out:
        for chunk in _chunks(stream):
            check()
            digest.update(chunk)
            out.write(chunk)
    if target.stat().st_size != size:
        raise tarfile.TarError(f"{target.name} is cut off")
    return f"sha256:{digest.hexdigest()}"


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        yield chunk
