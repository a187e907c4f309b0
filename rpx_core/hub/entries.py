"""From the entries of published manifests to records that a task can load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Protocol

from rpx_core.contracts import Difficulty
from rpx_core.errors import ManifestError, first_few, kind_of
from rpx_core.hub.archives import Members
from rpx_core.hub.layouts import Layout, Place
from rpx_core.hub.listing import HubFile
from rpx_core.records import WELL_KNOWN_ASSETS
from rpx_core.samples import FILE_SUFFIXES

Entry = dict[str, Any]

_RENAMED = {"scene_id": "scene", "frame_idx": "frame"}
_CORE = ("id", "scene", "phase", "difficulty", "sequence", "frame", "pose_convention", "metadata")
_FACTS = ("scene_type", "frame_idx_b")
_FRAME = ("rgb", "intrinsics", "pose")
_TEXT = frozenset({"text", "vocabulary"})
_UNUSED = frozenset({"depth_b"})
"""What the release lists of frames, and no task reads."""
BROKEN = "choose another --revision, or ask the owner of the dataset"
_TIERS = frozenset(tier.value for tier in Difficulty)


@dataclass(frozen=True)
class Wish:
    """What of an entry is wanted: the keys of its task, and keys that are added to it."""

    keys: frozenset[str]
    adds: tuple[str, ...] = ()


class Content(Protocol):
    """What of a commit is there."""

    def members(self, file: HubFile) -> Members | None:
        """The members of an unpacked archive."""
        ...

    def sha256(self, file: HubFile) -> str:
        """`sha256:...` of a file."""
        ...


@dataclass
class Translation:
    """Entries of a published manifest as records; `source` names it in errors."""

    source: str
    layout: Layout
    wish: Wish
    root: str = ""
    """The folder that the manifest says its files are in, where it says one."""
    dropped: Counter[str] = field(default_factory=Counter)

    def translate(self, entries: Sequence[Any]) -> list[Entry]:
        """The records, with files still named as the repository lists them."""
        return [self._translate(number, entry) for number, entry in enumerate(entries)]

    def places(self, records: Sequence[Entry]) -> Iterator[HubFile]:
        """The hub files that these records need."""
        for record in records:
            for value in self._listed(record):
                yield self._find(record, value).file
            for key in self._added(record):
                yield self._beside(record, key).file

    def resolve(self, record: Entry, content: Content) -> Entry:
        """The record with its files by the paths where they are, and their checksums."""
        located: dict[str, str] = {}
        checksums: dict[str, str] = {}
        for value in self._listed(record):
            path, digest = self._locate(record, self._find(record, value), content)
            located[value], checksums[path] = path, digest
        resolved = _rename(record, located)
        for key in self._added(record):
            path, digest = self._locate(record, self._beside(record, key), content)
            resolved[key], checksums[path] = path, digest
        return {**resolved, "checksums": checksums}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What of the entries nobody reads."""
        if not self.dropped:
            return ()
        return (f"{self.source}: keys that no task knows: {first_few(sorted(self.dropped))}",)

    def _translate(self, number: int, entry: Any) -> Entry:
        if not isinstance(entry, Mapping):
            raise ManifestError(
                f"{self.source}: sample {number}: an object was expected", hint=BROKEN
            )
        named = {_RENAMED.get(key, key): value for key, value in entry.items() if value is not None}
        # Numbers name scenes in some releases.
        named |= {
            key: str(named[key]) for key in ("id", "scene") if isinstance(named.get(key), int)
        }
        told = named.pop("metadata", None) or {}
        if not isinstance(told, Mapping):
            raise ManifestError(
                f"{self.source}: sample {number}: metadata is {kind_of(told)}; an object was "
                "expected",
                hint=BROKEN,
            )
        metadata = dict(told)
        metadata |= {key: named.pop(key) for key in _FACTS if key in named}
        if named.get("difficulty") not in _TIERS:
            named.pop("difficulty", None)
        record = {key: value for key, value in named.items() if key in (*_CORE, *_FRAME)}
        record |= {key: value for key, value in named.items() if key in self.wish.keys}
        if "mask" in record and "tracks" in record and not self._is_there(record["tracks"]):
            # The release lists tracklets that it does not hold; its masks carry the identities.
            del record["tracks"]
        unknown = set(named) - set(record) - WELL_KNOWN_ASSETS - _UNUSED
        self.dropped.update(str(key) for key in unknown)
        return {**record, **({"metadata": metadata} if metadata else {})}

    def _is_there(self, value: Any) -> bool:
        return not isinstance(value, str) or self._look(value) is not None

    def _look(self, value: str) -> Place | None:
        return self.layout.find(value) or self.layout.find(f"{self.root}/{value}")

    def _listed(self, record: Entry) -> Iterator[str]:
        for key, value in record.items():
            if key not in _CORE and key not in _TEXT:
                yield from _file_names(value)

    def _added(self, record: Entry) -> list[str]:
        return [key for key in self.wish.adds if key not in record]

    def _find(self, record: Entry, value: str) -> Place:
        place = self._look(value)
        if place is None:
            raise ManifestError(
                f"{self.source}: sample {record.get('id')}: lists {value}, which the repository "
                "does not hold",
                hint=BROKEN,
            )
        return place

    def _beside(self, record: Entry, key: str) -> Place:
        rgb = str(record.get("rgb", ""))
        place = self.layout.beside(rgb, key) or self.layout.beside(f"{self.root}/{rgb}", key)
        if place is None:
            raise ManifestError(
                f"{self.source}: sample {record.get('id')}: the repository has no {key} for it",
                hint="leave that modality out, or choose another --revision",
            )
        return place

    def _locate(self, record: Entry, place: Place, content: Content) -> tuple[str, str]:
        if place.member is None:
            return place.file.path, content.sha256(place.file)
        members = content.members(place.file)
        path = members.find(place.member) if members else None
        if members is None or path is None:
            raise ManifestError(
                f"{self.source}: sample {record.get('id')}: {place.file.path} holds no "
                f"{place.member}",
                hint=BROKEN,
            )
        return f"{place.folder}/{path}", members.by_path[path].sha256


def _file_names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if PurePosixPath(value).suffix.lower() in FILE_SUFFIXES:
            yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _file_names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _file_names(inner)


def _rename(value: Any, located: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return located.get(value, value)
    if isinstance(value, Mapping):
        return {key: _rename(inner, located) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rename(inner, located) for inner in value]
    return value
