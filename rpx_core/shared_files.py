"""The contract of prediction files that hold many samples."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from rpx_core.contracts import Sample
from rpx_core.records import Record


class SharedAnswers(Protocol):
    """The predictions of many samples, as one file has them."""

    @property
    def owners(self) -> Collection[str]:
        """Whom the file speaks of, as `SharedFormat.owner` names them."""
        ...

    def of(self, sample: Sample) -> Any:
        """The prediction of a sample; the empty one where the file says nothing of it."""
        ...


class SharedFormat(Protocol):
    """A file format that holds the predictions of many samples: COCO results, MOTChallenge."""

    def holds(self, name: str, head: bytes) -> bool:
        """Whether a file is of this format, by its name and first bytes."""
        ...

    def owner(self, sample: Sample | Record) -> str | None:
        """What stands for a sample in such files (its sequence, its image id), if anything does.

        A file that is named so is of that owner alone.
        """
        ...

    def read(self, data: bytes, name: str) -> SharedAnswers:
        """What a file says; raises ManifestError naming what breaks the format."""
        ...
