"""Tracks that are already on disk: a MOTChallenge result file per sequence."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import ModelError
from rpx_core.files import Files
from rpx_core.predictions import file_stem
from rpx_detection.tracking.mot import MotReader, MotRows, tracks_of_frame
from rpx_detection.tracking.types import TrackletPrediction


class MotFilesOptions(BaseModel):
    """`folder` holds `<sequence>.txt` for every sequence.

    `frame_offset` is added to the frame numbers in the files to get those of the data: 1 for files
    that count from 0 where the data counts from 1. `digest` is filled in: it stands for the content
    of the files in the identity of a run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path
    frame_offset: int = 0
    digest: str = ""

    @model_validator(mode="after")
    def _take_digest(self) -> Self:
        if not self.folder.is_dir():
            raise ValueError(f"{self.folder} is no folder")
        if not self.digest:
            total = hashlib.sha256()
            for path in sorted(self.folder.glob("*.txt")):
                total.update(path.name.encode("utf-8", "surrogateescape") + b"\0")
                total.update(hashlib.sha256(path.read_bytes()).digest())
            object.__setattr__(self, "digest", f"sha256:{total.hexdigest()}")
        return self


class MotFiles:
    """Answers each frame from the file of its sequence; a sequence without a file is an error."""

    task = "object_tracking"

    def __init__(self, options: MotFilesOptions) -> None:
        self._files = Files(options.folder)
        self._offset = options.frame_offset
        self._reader = MotReader()

    def setup(self) -> None:
        """Nothing to load before the first frame."""

    def predict(self, batch: Sequence[Sample]) -> list[TrackletPrediction]:
        """The tracks of each frame, none where the file has no line for it."""
        return [self._read(sample) for sample in batch]

    def _read(self, sample: Sample) -> TrackletPrediction:
        if sample.sequence is None or sample.frame is None:
            raise ModelError(f"sample {sample.id}: belongs to no sequence")
        name = f"{file_stem(sample.sequence)}.txt"
        if not (self._files.root / name).is_file():
            raise ModelError(
                f"sample {sample.id}: {self._files.root} holds no {name}",
                hint="give every sequence a file; an empty one says that nothing was tracked",
            )
        rows = self._reader.read(name, self._files)
        self._check_range(rows, sample)
        return TrackletPrediction(tracks_of_frame(rows, sample.frame - self._offset))

    def _check_range(self, rows: MotRows, sample: Sample) -> None:
        """Refuse a file whose frames are not those of the data; mostly it counts from elsewhere."""
        extent = (sample.metadata or {}).get("frames")
        if not isinstance(extent, list) or len(extent) != 2 or not len(rows.frame):
            return
        first, last = (int(number) for number in extent)
        begin, end = (int(rows.frame[place]) + self._offset for place in (0, -1))
        if first <= begin and end <= last:
            return
        raise ModelError(
            f"{rows.name}: has lines for frames {begin} to {end}, but sequence {sample.sequence} "
            f"has frames {first} to {last}",
            hint=_suggest(self._offset, first - begin, last - end),
        )


def _suggest(offset: int, low: int, high: int) -> str:
    """What to try: a shift by one between `low` and `high` brings all lines inside."""
    for step in (1, -1):
        if low <= step <= high:
            return f"counted from another start? --set model.options.frame_offset={offset + step}"
    return "are these the files of another split?"


def load(options: MotFilesOptions, runtime: Runtime) -> MotFiles:
    """The reader, for any device."""
    return MotFiles(options)
