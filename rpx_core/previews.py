"""Pictures of the worst samples, kept by each worker while it has the frames in memory."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from rpx_core.atomic import write_atomic
from rpx_core.contracts import Picture
from rpx_core.errors import JournalError
from rpx_core.images import encode_png
from rpx_core.legends import Legend, read_legend
from rpx_core.predictions import file_stem
from rpx_core.worst import Candidate, choose_worst

INDEX = "pictures.json"


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
        for number, picture in enumerate(pictures):
            name = f"{number}-{re.sub(r'[^a-z0-9]+', '-', picture.caption.lower())[:40]}.png"
            files[name] = encode_png(picture.image)
            legend = picture.legend.to_document() if picture.legend else None
            index.append({"caption": picture.caption, "file": name, "legend": legend})
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
    """(caption, path relative to the run directory) of the pictures kept of one sample."""
    folder = Path("previews") / file_stem(sample_id)
    try:
        index = json.loads((run_directory / folder / INDEX).read_bytes())
        return tuple((str(p["caption"]), (folder / Path(p["file"]).name).as_posix()) for p in index)
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def find_legend(picture: Path) -> Legend | None:
    """The legend that was kept beside the file of a picture."""
    try:
        index = json.loads((picture.parent / INDEX).read_bytes())
        return next((read_legend(p["legend"]) for p in index if p["file"] == picture.name), None)
    except (OSError, ValueError, KeyError, TypeError):
        return None
