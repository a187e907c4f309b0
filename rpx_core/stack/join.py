"""Joining the samples of runs by id and image, and saying why some cannot be measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rpx_core.errors import ConfigError, count_of
from rpx_core.records import natural_key
from rpx_core.report import Row
from rpx_core.stack.sources import Source


@dataclass(frozen=True)
class Joined:
    """One sample that any of the runs has: its rows by task, and why it is undefined, if it is."""

    id: str
    rows: Mapping[str, Row]
    reason: str | None = None

    @property
    def sequence(self) -> str:
        """The sequence that the first run with this sample puts it into."""
        return self._first("sequence") or self.id

    @property
    def frame(self) -> int | None:
        """Its place in the sequence."""
        frame: int | None = self._first("frame")
        return frame

    @property
    def fits(self) -> bool:
        """Whether nothing speaks against its rows being of one image."""
        return self.reason is None or any(row.failure is not None for row in self.rows.values())

    def describe(self) -> dict[str, Any]:
        """What rows say of a sample whoever scored it: of each field, what the first run knows."""
        names = ("scene", "phase", "difficulty", "rgb_digest")
        tags: dict[str, Any] = {}
        for row in reversed(list(self.rows.values())):
            tags |= row.tags
        return {name: self._first(name) for name in names} | {"tags": tags}

    def _first(self, name: str) -> Any:
        values = (getattr(row, name) for row in self.rows.values())
        return next((value for value in values if value is not None), None)


def join(sources: Sequence[Source]) -> dict[str, list[Joined]]:
    """Every sample of every run, by sequence, both in natural order.

    Raises ConfigError when no sample is there in all runs with one image: they are of other data.
    """
    ids = dict.fromkeys(identifier for source in sources for identifier in source.rows)
    joined = [_join(identifier, sources) for identifier in ids]
    if not any(one.fits and len(one.rows) == len(sources) for one in joined):
        raise _of_other_data(sources, joined)
    sequences: dict[str, list[Joined]] = {}
    for one in joined:
        sequences.setdefault(one.sequence, []).append(one)
    for frames in sequences.values():
        frames.sort(key=lambda one: (one.frame or 0, natural_key(one.id)))
    return dict(sorted(sequences.items(), key=lambda item: natural_key(item[0])))


def describe_undefined(sequences: Mapping[str, Sequence[Joined]]) -> tuple[str, ...]:
    """One line for each reason why samples are undefined, the most frequent first."""
    joined = [one for frames in sequences.values() for one in frames]
    reasons = Counter(one.reason for one in joined if one.reason is not None)
    return tuple(
        f"{count} of {count_of(len(joined), 'sample is', 'samples are')} undefined: {reason}"
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    )


def _join(identifier: str, sources: Sequence[Source]) -> Joined:
    rows = {source.name: source.rows[identifier] for source in sources if identifier in source.rows}
    missing = [source.name for source in sources if source.name not in rows]
    failed = [(name, row.failure) for name, row in rows.items() if row.failure is not None]
    digests = {row.rgb_digest for row in rows.values()}
    reason = None
    if missing:
        reason = f"not in the {missing[0]} run"
    elif failed:
        ((name, failure), *_) = failed
        reason = f"failed in the {name} run ({failure.stage})"
    elif None in digests:
        reason = "a run knows no image of it, so nothing says that they saw the same"
    elif len(digests) > 1:
        reason = "the runs saw different images"
    return Joined(identifier, rows, reason)


def _of_other_data(sources: Sequence[Source], joined: Sequence[Joined]) -> ConfigError:
    runs = "; ".join(
        f"{source.name} on {source.record.data} has {count_of(len(source.rows), 'sample')}, "
        f"such as {min(source.rows, key=natural_key)!r}"
        for source in sources
    )
    shared = [one for one in joined if len(one.rows) == len(sources)]
    if not shared:
        return ConfigError(
            f"the runs are of different data: they share no sample ({runs})",
            hint="samples join by id and image; evaluate both models on the same images",
        )
    reasons = "; ".join(dict.fromkeys(one.reason for one in shared if one.reason))
    return ConfigError(
        f"the runs are of different data: of {count_of(len(shared), 'sample')} with equal ids "
        f"none can be joined: {reasons}",
        hint="samples join by id and the digest of `rgb`; evaluate both models on the same images",
    )
