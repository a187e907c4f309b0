"""From a run directory to its results: read the journal, fold it, and say how complete it is."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rpx_core.aggregate import Aggregator
from rpx_core.atomic import write_atomic
from rpx_core.contracts import Metric, Output, Unit
from rpx_core.documents import read_json, to_pretty_json
from rpx_core.doubts import find_doubts
from rpx_core.errors import ConfigError, JournalError
from rpx_core.files import MEBIBYTE, quote, read_file
from rpx_core.host import Host
from rpx_core.identity import digest
from rpx_core.journal import Journal, StoredRow
from rpx_core.measure import build_metric
from rpx_core.offers import Offer
from rpx_core.parts import Part, resolve_stored
from rpx_core.previews import find_pictures
from rpx_core.profiling.storage import read_profile
from rpx_core.readiness.scores import Basis, compute_readiness
from rpx_core.report import (
    FailedSample,
    Number,
    Report,
    Results,
    Row,
    RunRecord,
    Status,
    WorstSample,
)
from rpx_core.stored_inputs import check_inputs, check_names
from rpx_core.worst import Candidate, choose_worst

RECORD_LIMIT = 64 * MEBIBYTE
"""Bytes of a `run.json`."""
STABILITY_OUTPUT = ("stability", "ts")
WORST_SHOWN = 6


def read_record(directory: Path) -> RunRecord:
    """The record of a run directory; raises ConfigError when it is not one."""
    path = directory / "run.json"
    if not os.path.lexists(path):
        raise ConfigError(
            f"{directory} is not a run directory: {path.name} is missing",
            hint="a run directory holds run.json and journal/",
        )
    return _parse_record(read_json(path, error=ConfigError, limit=RECORD_LIMIT), str(path))


def _parse_record(document: object, source: str) -> RunRecord:
    try:
        record = RunRecord.model_validate(document)
    except ValidationError as error:
        raise ConfigError(
            f"{source}: not the record of a run by this version of rpx",
            hint="run the evaluation again with --fresh",
        ) from error
    check_names(record, source)
    check_inputs(record.inputs, source)
    if digest(record.inputs) != record.identity:
        raise ConfigError(
            f"{source} was edited: its identity is not that of its inputs",
            hint="run the evaluation again; its settings make another run",
        )
    if not record.name.endswith(f"-{record.identity[:8]}"):
        raise ConfigError(
            f"{source} was edited: its name {quote(record.name)} is not that of its identity",
            hint=f"the name of this run ends with -{record.identity[:8]}",
        )
    return record


def stored_metrics(record: RunRecord, host: Host) -> dict[str, Metric]:
    """The metrics that a stored run was measured with; raises ConfigError if they have moved on."""
    metrics: dict[str, Metric] = {}
    task = record.task.split("/")[-1]
    for label, stored in record.inputs["metrics"].items():
        offer: Offer[Any] = host.find("metric", stored["name"], task=task)
        part: Part = resolve_stored(offer, stored, field_name=f"metrics.{label}.options")
        metric = build_metric(part)
        if metric.version != stored["metric"]:
            raise ConfigError(
                f"the run was measured with version {stored['metric']} of {offer.full_name}, "
                f"but version {metric.version} is installed",
                hint="install the version of the run, or evaluate again",
            )
        metrics[label] = metric
    return metrics


def collect(
    directory: Path,
    record: RunRecord,
    metrics: Mapping[str, Metric],
    *,
    by: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Results:
    """Fold everything that is committed into results: `collect_from` the journal of a run."""
    with Journal(directory / "journal", record.identity) as journal:
        return collect_from(journal, record, metrics, by=by, notes=notes)


def collect_from(
    journal: Journal,
    record: RunRecord,
    metrics: Mapping[str, Metric],
    *,
    by: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Results:
    """Fold everything that a journal holds into results.

    `by` are keys to slice by; `notes` say why a run that is not finished is partial (a shard).
    The status is complete only where sequences and samples are as many as the record selects; a
    journal that was opened with a selection holds no others. Raises ConfigError when the headline
    number of the record is of none of the metrics.
    """
    directory = journal.directory.parent
    label, output = _headline(directory, record, metrics)
    rows = journal.rows()
    aggregator = Aggregator(journal, rows, metrics)
    numbers = aggregator.numbers()
    cells = aggregator.cells()
    slices = tuple(part for key in by for part in aggregator.slices(key))
    basis = Basis(
        address=record.primary,
        cells=[cell for cell in cells if (cell.label, cell.output) == (label, output)],
        better=metrics[label].outputs[output].better,
        unit=metrics[label].outputs[output].unit,
        stability=find_stability(numbers),
    )
    profile = read_profile(directory, record.identity)
    unit = Unit(metrics[label].unit)
    everything = [stored.row for stored in rows]
    primary_rows = [row for row in everything if row.unit is unit]
    report = Report(
        run=record,
        status=_status(record, rows, len(journal.blocks), notes),
        primary=record.primary,
        numbers=numbers,
        readiness=compute_readiness(record.inputs["readiness"], basis),
        slices=slices,
        failures=tuple(
            FailedSample(id=stored.row.id, sequence=stored.row.sequence, failure=failure)
            for stored in rows
            for failure in stored.row.failures
        ),
        worst=_worst(directory, primary_rows, label, output, metrics[label].outputs[output]),
        warnings=(
            *record.warnings,
            *journal.warnings,
            *find_doubts(aggregator, everything, numbers, metrics, record.primary),
            *filter(None, [profile.problem]),
        ),
        writers=tuple(journal.writers),
        efficiency=profile.profile,
    )
    return Results(
        report=report,
        rows=everything,
        cells=cells,
        run_directory=directory,
        sequences=frozenset(journal.blocks),
        problems=aggregator.problems,
    )


def write_record(directory: Path, record: RunRecord) -> None:
    """Write run.json, or check that the one there says the same."""
    content = to_pretty_json(record.model_dump(mode="json", by_alias=True))
    path = directory / "run.json"
    # What could not be read again is refused before any work is done.
    source = "the record of this run"
    _parse_record(read_json(content, source=source, error=ConfigError, limit=RECORD_LIMIT), source)
    if os.path.lexists(path) and _read_present(path) != content:
        raise JournalError(
            f"{path} describes another run", hint="choose another --output, or pass --fresh"
        )
    write_atomic(path, content)


def _read_present(path: Path) -> bytes:
    return read_file(path, source=str(path), limit=RECORD_LIMIT, error=JournalError)


def _headline(directory: Path, record: RunRecord, metrics: Mapping[str, Metric]) -> tuple[str, str]:
    """Label and output of the number that the run is about."""
    address, _, aggregate = record.primary.rpartition("@")
    label, _, name = address.partition(".")
    output = metrics[label].outputs.get(name) if label in metrics else None
    if output is None or aggregate not in output.aggregates:
        raise ConfigError(
            f"{directory / 'run.json'}: the headline number {quote(record.primary)} is none that "
            f"its metrics give ({', '.join(metrics)})",
            hint="it is not the record of a run by this version of rpx; run the evaluation again",
        )
    return label, name


def _status(
    record: RunRecord, rows: Sequence[StoredRow], done: int, notes: Sequence[str]
) -> Status:
    samples = [stored.row for stored in rows if stored.row.unit.is_of_one_sample]
    failed = sum(bool(stored.row.failures) for stored in rows)
    failed_samples = sum(row.is_failed for row in samples)
    partial = [*record.partial, *(notes if done < record.sequences else ())]
    if record.selected_samples < record.dataset_samples:
        partial.append(
            f"a limit selects {record.selected_samples} of {record.dataset_samples} samples"
        )
    if done != record.sequences:
        partial.append(f"{done} of {record.sequences} sequences are finished")
    elif len(samples) != record.selected_samples:
        partial.append(f"{len(samples)} of {record.selected_samples} samples have a row")
    return Status(
        complete=not partial,
        partial=tuple(partial),
        dataset_samples=record.dataset_samples,
        selected_samples=record.selected_samples,
        evaluated_samples=sum(not row.is_failed for row in samples),
        failed_samples=failed_samples,
        failed_others=failed - failed_samples,
        unfinished_sequences=max(0, record.sequences - done),
    )


def find_stability(numbers: Sequence[Number]) -> Number | None:
    """The headline number of the temporal stability metric, if one ran."""
    found = (
        number
        for number in numbers
        if (number.label, number.output) == STABILITY_OUTPUT and number.headline
    )
    return next(found, None)


def _worst(
    directory: Path, rows: Sequence[Row], label: str, name: str, output: Output
) -> tuple[WorstSample, ...]:
    valued = [
        Candidate(row.id, row.sequence, value)
        for row in rows
        if (measured := row.metrics.get(label)) is not None
        and (value := measured.values.get(name)) is not None
    ]
    chosen = choose_worst(valued, WORST_SHOWN, lower_is_better=output.better == "lower")
    mine = {row.id: row for row in rows}
    return tuple(
        WorstSample(
            id=one.id,
            value=one.value,
            values=mine[one.id].metrics[label].values,
            pictures=find_pictures(directory, one.id),
        )
        for one in chosen
    )
