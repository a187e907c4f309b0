"""Reading what one run said of samples, aligned to the truth where the run did that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from rpx_core.contracts import Answer, Frame, Sample
from rpx_core.errors import ConfigError, PluginError
from rpx_core.guard import guarded
from rpx_core.manifest import Manifest
from rpx_core.records import Record
from rpx_core.report import Failure, Row
from rpx_core.stack.sources import Source


class AnswerReader:
    """Reads the answers of one run, in any order of samples, sequence by sequence for speed.

    Saved predictions are as the model gave them. Where the run aligned them to the truth, they
    are aligned again, by the same fit over the same samples; that takes the data of the run.
    Raises ConfigError when it is not given, or when it is other data.
    """

    def __init__(self, source: Source, manifest: Manifest | None) -> None:
        self._source = source
        self._folder = source.predictions
        self._method, self._whole = source.alignment
        self._manifest = _data_of(source, manifest) if self._method != "none" else None
        self._sequences = self._manifest.sequences() if self._manifest else {}
        self._fitted: tuple[str, Mapping[str, Frame | None] | Failure] | None = None

    def read(self, row: Row) -> Answer | Failure | None:
        """The answer for the sample of a row; None where its alignment is undefined."""
        manifest = self._manifest
        frame = self._unaligned(row) if manifest is None else self._aligned(row, manifest)
        if frame is None or isinstance(frame, Failure):
            return frame
        return guarded("measure", lambda: self._answer(frame))

    def _unaligned(self, row: Row) -> Frame | Failure:
        return guarded("load", lambda: Frame(sample_of(row), None, self._prediction(row.id)))

    def _prediction(self, sample_id: str) -> Any:
        (prediction,) = self._folder.predict([Sample(sample_id)])
        return prediction

    def _answer(self, frame: Frame) -> Answer:
        boundary = self._source.task.boundary(frame.prediction, frame.sample)
        if not isinstance(boundary, np.ndarray) or boundary.dtype != bool or boundary.ndim != 2:
            raise PluginError(
                f"boundary() of {self._source.offer.full_name} did not return a 2-D bool array"
            )
        return Answer(frame.prediction, boundary)

    def _aligned(self, row: Row, manifest: Manifest) -> Frame | Failure | None:
        together = row.sequence if self._whole else row.id
        if self._fitted is None or self._fitted[0] != together:
            ids = self._together(row)
            loaded = guarded("load", partial(self._load, row.sequence, ids, manifest))
            fitted = (
                loaded
                if isinstance(loaded, Failure)
                else guarded("align", partial(self._fit, loaded))
            )
            self._fitted = (together, fitted)
        found = self._fitted[1]
        return found if isinstance(found, Failure) else found[row.id]

    def _together(self, row: Row) -> set[str]:
        """Samples that the run aligned by one fit."""
        if not self._whole:
            return {row.id}
        return {
            one.id
            for one in self._source.rows.values()
            if one.sequence == row.sequence and one.failure is None
        }

    def _load(self, sequence: str, ids: Collection[str], manifest: Manifest) -> list[Frame]:
        frames = manifest.records(self._sequences[sequence])
        records = self._source.task.arrange(frames, manifest.files)
        return [self._load_frame(record, manifest) for record in records if record.id in ids]

    def _load_frame(self, record: Record, manifest: Manifest) -> Frame:
        task = self._source.task
        sample = task.load(record, manifest.files.declaring(record.checksums))
        prediction = task.validate(self._prediction(record.id), sample)
        return Frame(sample, sample.ground_truth, prediction)

    def _fit(self, frames: Sequence[Frame]) -> dict[str, Frame | None]:
        aligned = self._source.task.align(self._method, frames)
        return {
            frame.sample.id: None if fit is None else frame._replace(prediction=fit.prediction)
            for frame, fit in zip(frames, aligned, strict=True)
        }


def sample_of(row: Row) -> Sample:
    """What a row still knows of its sample."""
    return Sample(
        id=row.id,
        metadata=dict(row.tags),
        phase=row.phase,
        difficulty=row.difficulty,
        scene=row.scene,
        sequence=row.sequence,
        frame=row.frame,
    )


def _data_of(source: Source, manifest: Manifest | None) -> Manifest:
    method, _ = source.alignment
    if manifest is None:
        raise ConfigError(
            f"the {source.name} run aligned predictions to the truth ({method}), but saved them as "
            "the model gave them",
            hint="--data DATA, the data of the run, so that they can be aligned again",
        )
    if manifest.dataset_id != source.record.inputs["data"]["dataset_id"]:
        raise ConfigError(
            f"{manifest.name} is not the data of the {source.name} run, whose predictions have to "
            f"be aligned again ({method})",
            hint=f"the run was on {source.record.data}; has its manifest changed since?",
        )
    return manifest
