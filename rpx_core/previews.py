"""Pictures of the worst samples, kept by each worker while it has the frames in memory."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from rpx_core.atomic import write_atomic
from rpx_core.contracts import Picture
from rpx_core.documents import read_json
from rpx_core.errors import JournalError
from rpx_core.files import MEBIBYTE
from rpx_core.images import encode_png
from rpx_core.legends import Legend, read_legend
from rpx_core.predictions import file_stem
from rpx_core.stored_text import MAX_NAME, storable
from rpx_core.worst import Candidate, choose_worst

INDEX = "pictures.json"
MAX_PICTURES = 32
"""Pictures of one sample."""
INDEX_LIMIT = MEBIBYTE


class _Listed(BaseModel):
    """One picture in the index of a sample; files lie beside it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    caption: Annotated[str, Field(max_length=MAX_NAME)]
    file: Annotated[str, Field(pattern=r"\A[a-z0-9-]{1,60}\.png\z")]
    legend: Any = None


_INDEX = TypeAdapter(Annotated[list[_Listed], Field(max_length=MAX_PICTURES)])


class WorstKeeper:
    """Keeps the pictures of the `limit` worst samples that one worker has seen.

    The worst of the whole run are among the worst of its workers.
    """

    def __init__(self, directory: Path, limit: int, *, lower_is_better: bool) -> None:
        self._directory = directory
        self._limit = limit
        self._lower_is_better = lower_is_better
        self._kept: tuple[Candidate, ...] = ()

    def wants(self, candidate: Candidate) -> bool:
        """Whether a sample is among the worst so far."""
        return candidate in self._choose(candidate)

    def keep(self, candidate: Candidate, pictures: Sequence[Picture]) -> None:
        """Write the pictures of one sample, and drop those of another one if too many."""
        folder = self._directory / file_stem(candidate.id)
        index = []
        files = {}
        for number, picture in enumerate(pictures[:MAX_PICTURES]):
            caption = storable(picture.caption, MAX_NAME)
            name = f"{number}-{re.sub(r'[^a-z0-9]+', '-', caption.lower())[:40]}.png"
            files[name] = encode_png(picture.image)
            legend = picture.legend.to_document() if picture.legend else None
            index.append({"caption": caption, "file": name, "legend": legend})
        files[INDEX] = json.dumps(index).encode()
        try:
            for name, content in files.items():
                write_atomic(folder / name, content, durable=False)
        except JournalError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            # Another command on the same run has just dropped the folder: a picture less.
            return
        before, self._kept = self._kept, self._choose(candidate)
        left = {one.id for one in before} - {one.id for one in self._kept}
        for dropped in sorted(left):
            shutil.rmtree(self._directory / file_stem(dropped), ignore_errors=True)

    def _choose(self, candidate: Candidate) -> tuple[Candidate, ...]:
        # A sequence that is started again shows its samples twice.
        others = (kept for kept in self._kept if kept.id != candidate.id)
        return choose_worst(
            [*others, candidate], self._limit, lower_is_better=self._lower_is_better
        )


def find_pictures(run_directory: Path, sample_id: str) -> tuple[tuple[str, str], ...]:
    """(caption, path relative to the run directory) of the pictures kept of one sample.

    None where there is no index, or one that rpx has not written.
    """
    folder = Path("previews") / file_stem(sample_id)
    path = run_directory / folder / INDEX
    try:
        index = _read_index(path)
    except (JournalError, ValidationError):
        return ()
    return tuple((listed.caption, (folder / listed.file).as_posix()) for listed in index)


def find_legend(picture: Path) -> Legend | None:
    """The legend that was kept beside the file of a picture."""
    try:
        index = _read_index(picture.parent / INDEX)
        legends = (read_legend(one.legend) for one in index if one.file == picture.name)
        return next(legends, None)
    except (JournalError, ValidationError, ValueError, KeyError, TypeError):
        return None


def _read_index(path: Path) -> list[_Listed]:
    return _INDEX.validate_python(read_json(path, error=JournalError, limit=INDEX_LIMIT))
