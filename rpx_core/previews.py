"""Pictures of the worst samples, kept by each worker while it has the frames in memory."""

from __future__ import annotations

import heapq
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from rpx_core.atomic import write_atomic
from rpx_core.contracts import Picture
from rpx_core.errors import JournalError
from rpx_core.images import encode_png
from rpx_core.predictions import file_stem


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
        for number, picture in enumerate(pictures):
            name = f"{number}-{re.sub(r'[^a-z0-9]+', '-', picture.caption.lower())[:40]}.png"
            files[name] = encode_png(picture.image)
            index.append({"caption": picture.caption, "file": name})
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
    """(caption, path relative to the run directory) of the pictures kept of one sample."""
    folder = Path("previews") / file_stem(sample_id)
    try:
        index = json.loads((run_directory / folder / "pictures.json").read_bytes())
        return tuple((str(p["caption"]), (folder / Path(p["file"]).name).as_posix()) for p in index)
    except (OSError, ValueError, KeyError, TypeError):
        return ()
