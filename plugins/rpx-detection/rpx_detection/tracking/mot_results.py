"""MOTChallenge result files as predictions: `<sequence>.txt` answers every frame of a sequence."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rpx_core.contracts import Sample
from rpx_core.errors import ModelError
from rpx_core.predictions import file_stem
from rpx_detection.tracking.mot import MotRows, parse_mot, tracks_of_frame
from rpx_detection.tracking.types import TrackletPrediction

if TYPE_CHECKING:
    from rpx_core.records import Record


class MotResults:
    """The format: the file is named as the sequence, and a frame without a line has no tracks.

    `frame_offset` is added to the frame numbers in the files to get those of the data.
    """

    def __init__(self, frame_offset: int) -> None:
        self._offset = frame_offset

    def holds(self, name: str, head: bytes) -> bool:
        """Every text file; predictions of single frames are JSON."""
        return name.lower().endswith(".txt")

    def owner(self, sample: Sample | Record) -> str | None:
        """Its sequence."""
        return sample.sequence

    def read(self, data: bytes, name: str) -> MotAnswers:
        """The lines of a file."""
        return MotAnswers(parse_mot(data, name), self._offset)


class MotAnswers:
    """The tracks of one sequence."""

    def __init__(self, rows: MotRows, frame_offset: int) -> None:
        self._rows = rows
        self._offset = frame_offset
        self._stem = PurePosixPath(rows.name).stem

    @property
    def owners(self) -> Collection[str]:
        """The sequence that the file is named after."""
        return (self._stem,)

    def of(self, sample: Sample) -> TrackletPrediction:
        """The tracks of a frame; raises ModelError where the file is not one of its sequence."""
        if sample.sequence is None or sample.frame is None:
            raise ModelError(f"sample {sample.id}: belongs to no sequence")
        if self._stem not in (sample.sequence, file_stem(sample.sequence)):
            raise ModelError(
                f"sample {sample.id}: no file {file_stem(sample.sequence)}.txt has its sequence",
                hint="give every sequence a file; an empty one says that nothing was tracked",
            )
        self._check_range(sample)
        return TrackletPrediction(tracks_of_frame(self._rows, sample.frame - self._offset))

    def _check_range(self, sample: Sample) -> None:
        """Refuse a file whose frames are not those of the data; mostly it counts from elsewhere."""
        extent = (sample.metadata or {}).get("frames")
        if not isinstance(extent, list) or len(extent) != 2 or not len(self._rows.frame):
            return
        first, last = (int(number) for number in extent)
        begin, end = (int(self._rows.frame[place]) + self._offset for place in (0, -1))
        if first <= begin and end <= last:
            return
        raise ModelError(
            f"{self._rows.name}: has lines for frames {begin} to {end}, but sequence "
            f"{sample.sequence} has frames {first} to {last}",
            hint=_suggest(self._offset, first - begin, last - end),
        )


def _suggest(offset: int, low: int, high: int) -> str:
    """What to try: a shift by one between `low` and `high` brings all lines inside."""
    for step in (1, -1):
        if low <= step <= high:
            return f"counted from another start? --set options.frame_offset={offset + step}"
    return "are these the files of another split?"
