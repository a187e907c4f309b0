"""From a run directory to its results: read the journal, fold it, and say how complete it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rpx_core.aggregate import Aggregator
from rpx_core.contracts import Metric, Output, Unit
from rpx_core.doubts import find_doubts, smaller_batches
from rpx_core.errors import ConfigError, count_of
from rpx_core.files import quote
from rpx_core.host import Host
from rpx_core.journal import Journal, StoredRow
from rpx_core.measure import build_metric
from rpx_core.names import bare_name
from rpx_core.offers import Offer
from rpx_core.parts import Part, resolve_stored
from rpx_core.previews import find_pictures
from rpx_core.profiling.storage import read_profile
from rpx_core.readiness.scores import Basis, compute_readiness
from rpx_core.report import (
    Cell,
    FailedSample,
    Number,
    Report,
    Results,
    Row,
    RunRecord,
    Status,
    WorstSample,
)
from rpx_core.worst import Candidate, choose_worst

STABILITY_OUTPUT = ("stability", "ts")
WORST_SHOWN = 6


def stored_metrics(record: RunRecord, host: Host) -> dict[str, Metric]:
    """The metrics that a stored run was measured with; raises ConfigError if they have moved on."""
    metrics: dict[str, Metric] = {}
    task = bare_name(record.task)
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
    headline = _headline(directory, record, metrics)
    rows = journal.rows()
    aggregator = Aggregator(journal, rows, metrics)
    numbers, cells = aggregator.numbers(), aggregator.cells()
    slices = tuple(part for key in by for part in aggregator.slices(key))
    profile = read_profile(directory, record.identity)
    everything = [stored.row for stored in rows]
    doubts = find_doubts(aggregator, everything, numbers, metrics, record.primary)
    warnings = (*doubts, *filter(None, [profile.problem]), *smaller_batches(journal.writers))
    report = Report(
        run=record,
        status=_status(record, rows, len(journal.blocks), notes),
        primary=record.primary,
        numbers=numbers,
        readiness=compute_readiness(record.inputs["readiness"], headline.basis(cells, numbers)),
        slices=slices,
        failures=_failures(rows),
        worst=headline.worst(directory, everything),
        warnings=(*record.warnings, *journal.warnings, *warnings),
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


@dataclass(frozen=True)
class _Headline:
    """The number that a run is about: of which metric and output, and how to read it."""

    address: str
    label: str
    name: str
    unit: Unit
    output: Output

    def basis(self, cells: Sequence[Cell], numbers: Sequence[Number]) -> Basis:
        """What readiness is computed from."""
        return Basis(
            address=self.address,
            cells=[cell for cell in cells if (cell.label, cell.output) == (self.label, self.name)],
            better=self.output.better,
            unit=self.output.unit,
            stability=find_stability(numbers),
        )

    def worst(self, directory: Path, rows: Sequence[Row]) -> tuple[WorstSample, ...]:
        """Where the number is worst, with the pictures that the run has of it."""
        mine = {row.id: row for row in rows if row.unit is self.unit}
        valued = [
            Candidate(row.id, row.sequence, value)
            for row in rows
            if row.unit is self.unit
            and (measured := row.metrics.get(self.label)) is not None
            and (value := measured.values.get(self.name)) is not None
        ]
        lower_is_better = self.output.better == "lower"
        return tuple(
            WorstSample(
                id=one.id,
                value=one.value,
                values=mine[one.id].metrics[self.label].values,
                pictures=find_pictures(directory, one.id),
            )
            for one in choose_worst(valued, WORST_SHOWN, lower_is_better=lower_is_better)
        )


def _headline(directory: Path, record: RunRecord, metrics: Mapping[str, Metric]) -> _Headline:
    address, _, aggregate = record.primary.rpartition("@")
    label, _, name = address.partition(".")
    output = metrics[label].outputs.get(name) if label in metrics else None
    if output is None or aggregate not in output.aggregates:
        raise ConfigError(
            f"{directory / 'run.json'}: the headline number {quote(record.primary)} is none that "
            f"its metrics give ({', '.join(metrics)})",
            hint="it is not the record of a run by this version of rpx; run the evaluation again",
        )
    return _Headline(record.primary, label, name, Unit(metrics[label].unit), output)


def _status(
    record: RunRecord, rows: Sequence[StoredRow], done: int, notes: Sequence[str]
) -> Status:
    samples = [stored.row for stored in rows if stored.row.unit.is_of_one_sample]
    failed = sum(bool(stored.row.failures) for stored in rows)
    failed_samples = sum(row.is_failed for row in samples)
    partial = [*record.partial, *(notes if done < record.sequences else ())]
    if record.selected_samples < record.dataset_samples:
        partial.append(
            f"a limit selects {record.selected_samples} of "
            f"{count_of(record.dataset_samples, 'sample')}"
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


def _failures(rows: Sequence[StoredRow]) -> tuple[FailedSample, ...]:
    return tuple(
        FailedSample(id=stored.row.id, sequence=stored.row.sequence, failure=failure)
        for stored in rows
        for failure in stored.row.failures
    )


def find_stability(numbers: Sequence[Number]) -> Number | None:
    """The headline number of the temporal stability metric, if one ran."""
    found = (
        number
        for number in numbers
        if (number.label, number.output) == STABILITY_OUTPUT and number.headline
    )
    return next(found, None)
