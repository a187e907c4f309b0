"""Why the numbers of an evaluation should be doubted: what every report of them has to say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rpx_core.aggregate import Aggregator
from rpx_core.contracts import Metric
from rpx_core.inference.memory import LARGEST_BATCH
from rpx_core.report import Number, Row, Writer


def find_doubts(
    fold: Aggregator,
    rows: Sequence[Row],
    numbers: Sequence[Number],
    metrics: Mapping[str, Metric],
    primary: str,
) -> tuple[str, ...]:
    """All of it, a sentence each: of `rows`, and of the `numbers` that their fold came to.

    `primary` is the address of the number that the evaluation is about.
    """
    return (
        *fold.problems,
        *fold.doubts(),
        *_nowhere_defined(rows, numbers),
        *_no_headline(primary, numbers),
        *find_implausible(numbers, metrics),
        *_notes(rows),
    )


def find_implausible(numbers: Iterable[Number], metrics: Mapping[str, Metric]) -> tuple[str, ...]:
    """Headline numbers far outside what makes sense: almost always a wrong unit."""
    found = []
    for number in numbers:
        metric = metrics.get(number.label)
        output = metric.outputs[number.output] if metric is not None else None
        if output is None or output.plausible is None or number.value is None:
            continue
        low, high = output.plausible
        if number.headline and not low <= number.value <= high:
            found.append(
                f"{number.address} is {number.value:.4g}, outside {low:g} to {high:g}: "
                f"{output.doubt}"
            )
    return tuple(found)


def _nowhere_defined(rows: Sequence[Row], numbers: Sequence[Number]) -> list[str]:
    """Metrics that were asked for and have no value at all, with the most frequent reason."""
    if all(row.is_failed for row in rows if row.unit.is_of_one_sample):
        return []  # Then the failures say it.
    valued = {number.label for number in numbers if number.value is not None or number.infinite}
    reasons: dict[str, Counter[str]] = {}
    for row in rows:
        for label, measured in row.metrics.items():
            if label not in valued:
                counts = reasons.setdefault(label, Counter())
                counts[measured.reason or "its outputs are undefined"] += 1
    return [
        f"{label} has no value: {reason} ({count} of {counts.total()})"
        for label, counts in reasons.items()
        for reason, count in counts.most_common(1)
    ]


def _no_headline(primary: str, numbers: Sequence[Number]) -> list[str]:
    """Samples were evaluated, and yet the number that it is all about has no value."""
    return [
        f"{number.address} is undefined for all {number.undefined} samples: nothing in the "
        "predictions can be compared with the truth"
        for number in numbers
        if number.address == primary and number.value is None
        if number.undefined and not (number.n or number.infinite)
    ]


def _notes(rows: Sequence[Row]) -> list[str]:
    """What alignments warned of, each sentence once with the number of its samples."""
    counts = Counter(row.note for row in rows if row.note is not None)
    return [f"{note} ({count} samples)" for note, count in sorted(counts.items())]


def smaller_batches(writers: Sequence[Writer]) -> list[str]:
    """Where batches did not fit into memory, and how many samples at a time did in the end."""
    counts = Counter(
        (device, most)
        for writer in writers
        if (most := writer.model.get(LARGEST_BATCH)) is not None
        for device in [writer.model.get("device", writer.device)]
    )
    return [
        f"batches did not fit into the memory of {device}: samples went through the model at most "
        f"{most} at a time" + (f" (in {times} processes)" if times > 1 else "")
        for (device, most), times in sorted(counts.items())
    ]
