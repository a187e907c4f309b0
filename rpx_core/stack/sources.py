"""The runs that a stack is made of: opened, checked, and identified by what their rows say."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rpx_core.contracts import Task, Unit
from rpx_core.documents import to_json
from rpx_core.errors import ConfigError
from rpx_core.host import Host
from rpx_core.identity import digest_of
from rpx_core.journal import Journal
from rpx_core.names import bare_name
from rpx_core.offers import Offer
from rpx_core.parts import resolve_stored
from rpx_core.predictions import PredictionFolder
from rpx_core.report import Row, RunRecord
from rpx_core.run_json import read_record
from rpx_core.specs import TaskSpec
from rpx_core.stored_inputs import is_stack


@dataclass(frozen=True)
class Source:
    """One run: its task, built with the options of the run, and its sample rows by id.

    `digest` stands for everything that the rows say: values, failures, image digests.
    `predictions` are those that the run saved, as the model gave them, held to what they are now.
    `partial` says why the run is not of its whole dataset.
    """

    directory: Path
    record: RunRecord
    offer: Offer[TaskSpec]
    task: Task[Any, Any]
    rows: Mapping[str, Row]
    digest: str
    predictions: PredictionFolder
    predictions_digest: str
    partial: tuple[str, ...]

    @property
    def name(self) -> str:
        """The bare name of the task."""
        return self.offer.spec.name

    @property
    def alignment(self) -> tuple[str, bool]:
        """The method by which the run aligned predictions, and whether over whole sequences."""
        align = self.record.inputs["align"]
        return align["method"], align["scope"] == "sequence"


def open_source(directory: Path, host: Host) -> Source:
    """The run in a directory; raises ConfigError when a stack cannot be made of it."""
    record = read_record(directory)
    if is_stack(record.inputs):
        raise ConfigError(
            f"{directory} is itself a stack", hint="name the runs of single tasks that it is of"
        )
    offer, task = _rebuild_task(directory, record, host)
    with Journal(directory / "journal", record.identity) as journal:
        rows = [stored.row for stored in journal.rows() if stored.row.unit is Unit.SAMPLE]
        finished = len(journal.blocks)
    if not rows:
        raise ConfigError(
            f"{directory} has no finished sequence", hint="the command that made it resumes it"
        )
    predictions = _predictions(directory, record, task, rows)
    return Source(
        directory=directory,
        record=record,
        offer=offer,
        task=task,
        rows={row.id: row.model_copy(update={"metrics": {}}) for row in rows},
        digest=_digest(rows),
        predictions=PredictionFolder(directory / "predictions", task, predictions),
        predictions_digest=digest_of(predictions),
        partial=tuple(_partial(record, finished)),
    )


def _predictions(
    directory: Path, record: RunRecord, task: Task[Any, Any], rows: Sequence[Row]
) -> dict[str, str]:
    """The digests of the saved predictions of the rows by file name."""
    folder = PredictionFolder(directory / "predictions", task)
    if not folder.present(task):
        raise ConfigError(
            f"{directory} has no saved predictions",
            hint=f"run it again with {_how_to_save(record)}; what is missing is made again",
        )
    return folder.digests_of((row.id for row in rows), task)


def _rebuild_task(
    directory: Path, record: RunRecord, host: Host
) -> tuple[Offer[TaskSpec], Task[Any, Any]]:
    stored = record.inputs["task"]
    offer: Offer[TaskSpec] = host.find("task", stored["name"])
    task: Task[Any, Any] = resolve_stored(offer, stored, field_name="options").build()
    if task.version != stored["task"]:
        raise ConfigError(
            f"{directory} was made by version {stored['task']} of {offer.full_name}, but version "
            f"{task.version} is installed",
            hint="install the version of the run, or evaluate again",
        )
    if type(task).boundary is Task.boundary:
        raise ConfigError(
            f"{directory} is a run of {offer.full_name}, whose predictions have no boundary",
            hint="a stack compares where predictions have edges: masks and depth maps do",
        )
    return offer, task


def _digest(rows: Iterable[Row]) -> str:
    total = hashlib.sha256()
    for row in rows:
        # Where a state lies depends on who wrote it; what it says is in the values.
        metrics = {
            label: measured.model_copy(update={"state": None})
            for label, measured in row.metrics.items()
        }
        plain = row.model_copy(update={"metrics": metrics}).model_dump(mode="json")
        total.update(to_json(plain))
    return f"sha256:{total.hexdigest()}"


def _partial(record: RunRecord, finished: int) -> Sequence[str]:
    task = bare_name(record.task)
    reasons = []
    if record.selected_samples < record.dataset_samples:
        reasons.append(
            f"the {task} run is limited to {record.selected_samples} of {record.dataset_samples} "
            "samples"
        )
    if finished != record.sequences:
        reasons.append(f"the {task} run has finished {finished} of {record.sequences} sequences")
    return reasons


def _how_to_save(record: RunRecord) -> str:
    if record.inputs["model"]["kind"] == "files":
        return "`--set execution.save_predictions=true`"
    return "`--save-predictions`"
