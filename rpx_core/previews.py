"""Pictures of the worst samples, kept by each worker while it has the frames in memory."""

from __future__ import annotations

import heapq
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from rpx_core.atomic import write_atomic
from rpx_core.contracts import Picture
from rpx_core.documents import read_json
from rpx_core.errors import JournalError
from rpx_core.files import MEBIBYTE
from rpx_core.images import encode_png
from rpx_core.predictions import file_stem
from rpx_core.stored_text import MAX_NAME, storable

MAX_PICTURES = 32
"""Pictures of one sample."""
INDEX_LIMIT = MEBIBYTE


class _Listed(BaseModel):
    """One picture in the index of a sample; files lie beside it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    caption: Annotated[str, Field(max_length=MAX_NAME)]
    file: Annotated[str, Field(pattern=r"\A[a-z0-9-]{1,60}\.png\z")]


_INDEX = TypeAdapter(Annotated[list[_Listed], Field(max_length=MAX_PICTURES)])


class WorstKeeper:
    """Keeps the pictures of the `limit` worst samples that one worker has seen.

    The worst of the whole run are among the worst of its workers.
    """

    def __init__(self, directory: Path, limit: int, *, lower_is_better: bool) -> None:
        self._directory = directory
        self._limit = limit
        self._sign = 1.0 if lower_is_better else -1.0
        self._heap: list[tuple[float, str]] = []

    def wants(self, value: float) -> bool:
        """Whether a sample of this value is among the worst so far."""
        if len(self._heap) < self._limit:
            return True
        return self._limit > 0 and self._sign * value > self._heap[0][0]

    def keep(self, sample_id: str, value: float, pictures: Sequence[Picture]) -> None:
        """Write the pictures of one sample, and drop those of the best one kept if too many."""
        folder = self._directory / file_stem(sample_id)
        index = []
        files = {}
        for number, picture in enumerate(pictures[:MAX_PICTURES]):
            caption = storable(picture.caption, MAX_NAME)
            name = f"{number}-{re.sub(r'[^a-z0-9]+', '-', caption.lower())[:40]}.png"
            files[name] = encode_png(picture.image)
            index.append({"caption": caption, "file": name})
        files["pictures.json"] = json.dumps(index).encode()
        try:
            for name, content in files.items():
                write_atomic(folder / name, content, durable=False)
        except JournalError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            # Another command on the same run has just dropped the folder: a picture less.
            return
        # A sequence that is started again shows its samples twice.
        self._heap = [kept for kept in self._heap if kept[1] != sample_id]
        heapq.heapify(self._heap)
        heapq.heappush(self._heap, (self._sign * value, sample_id))
        if len(self._heap) > self._limit:
            _, dropped = heapq.heappop(self._heap)
            shutil.rmtree(self._directory / file_stem(dropped), ignore_errors=True)


def find_pictures(run_directory: Path, sample_id: str) -> tuple[tuple[str, str], ...]:
    """(caption, path relative to the run directory) of the pictures kept of one sample.

    None where there is no index, or one that rpx has not written.
    """
    folder = Path("previews") / file_stem(sample_id)
    path = run_directory / folder / "pictures.json"
    try:
        index = _INDEX.validate_python(read_json(path, error=JournalError, limit=INDEX_LIMIT))
    except (JournalError, ValidationError):
        return ()
    return tuple((listed.caption, (folder / listed.file).as_posix()) for listed in index)
