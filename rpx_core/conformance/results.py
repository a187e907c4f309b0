"""Results for reporters to render: every kind of null, hostile names, as many rows as wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rpx_core.contracts import Difficulty, Phase, Unit
from rpx_core.readiness.scores import Basis, compute_readiness
from rpx_core.report import (
    Cell,
    FailedSample,
    Failure,
    Measured,
    Number,
    Report,
    Results,
    Row,
    RunRecord,
    Slice,
    Status,
    WorstSample,
    Writer,
)

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"</td>{SCRIPT}\"'&\u202e|`=\r\n%s{{{{}}}}\\x/../ä"
"""What a name may hold that a manifest gives: markup, quotes, a formula, a path, line breaks."""

_PRIMARY = "depth.absrel@sample"


def sample_results(*, rows: int = 12, name: str = "scene") -> Results:
    """The results of a small run; `name` begins every name that somebody else chose.

    Of the rows, the first failed and the second is undefined; among the numbers are one without
    a value, one that is infinitely good, and one without direction.
    """
    found = _rows(rows, name)
    cells = _cells(name)
    numbers = _numbers(rows, name)
    failed = [row for row in found[:1] if row.failure is not None]
    report = Report(
        run=_record(rows, name),
        status=Status(
            complete=False,
            partial=(f"limited to {rows} samples",),
            dataset_samples=2 * rows,
            selected_samples=rows,
            evaluated_samples=rows - len(failed),
            failed_samples=len(failed),
        ),
        primary=_PRIMARY,
        numbers=numbers,
        readiness=compute_readiness(
            "rpx-2", Basis(_PRIMARY, cells, better="lower", unit="", stability=None)
        ),
        slices=(Slice(key="scene", value=name, samples=rows, numbers=numbers),),
        failures=tuple(_failed_sample(row) for row in failed),
        worst=(WorstSample(id=found[-1].id, value=0.5, values={"absrel": 0.5, "psnr": None}),),
        warnings=(f"{name} was seen twice",),
        writers=(_writer(name),),
    )
    return Results(report=report, rows=found, cells=cells)


def null_results() -> Results:
    """The results of a run of which nothing has a value."""
    results = sample_results(rows=1)
    numbers = tuple(
        number.model_copy(update={"value": None, "reason": "no samples", "n": 0, "interval": None})
        for number in results.report.numbers
    )
    report = results.report.model_copy(update={"numbers": numbers, "worst": (), "slices": ()})
    return Results(report=report, rows=results.rows, cells=())


def _rows(count: int, name: str) -> Sequence[Row]:
    plain = Row(
        unit=Unit.SAMPLE,
        id=name,
        sequence=f"{name}_clutter",
        frame=0,
        scene=name,
        phase=Phase.CLUTTER,
        difficulty=Difficulty.EASY,
        tags={"lighting": name, "gain": 3, "dark": True, "lux": 0.5},
        metrics={"depth": Measured(values={"absrel": 0.25, "psnr": None}, infinite=("psnr",))},
    )
    changed: Sequence[Mapping[str, Any]] = [
        {"metrics": {}, "failure": Failure(stage="load", error="ManifestError", message=name)},
        {"metrics": {"depth": Measured(values={"absrel": None, "psnr": None}, reason=name)}},
        {},
    ]
    return [
        plain.model_copy(update={"id": f"{name}_{i:06d}", "frame": i, **changed[min(i, 2)]})
        for i in range(count)
    ]


def _failed_sample(row: Row) -> FailedSample:
    failure = row.failure or Failure(stage="load", error="", message="")
    return FailedSample(id=row.id, sequence=row.sequence, failure=failure)


def _cells(name: str) -> list[Cell]:
    empty: Mapping[str, Any] = {"value": None, "reason": "no samples", "n": 0}
    return [
        Cell(
            label="depth",
            output="absrel",
            phase=phase,
            difficulty=difficulty,
            scene=name,
            **({"value": 0.2, "n": 4} if phase is Phase.CLUTTER else empty),
        )
        for phase in Phase
        for difficulty in Difficulty
    ]


def _numbers(count: int, name: str) -> tuple[Number, ...]:
    def number(output: str, **facts: Any) -> Number:
        address = f"depth.{output}@sample"
        return Number(
            address=address, label="depth", output=output, aggregate="sample", headline=True,
            **{"n": max(count - 2, 0), **facts},
        )  # fmt: skip

    return (
        number("absrel", value=0.2, better="lower", interval=(0.1, 0.3), interval_reason=None),
        number("rmse", value=1.5, better="lower", unit="m", undefined=1, failed=1),
        number("psnr", value=None, reason="infinite", better="higher", unit="dB", infinite=3, n=0),
        number("ratio", value=1.01),
        number("f1", value=None, reason=name, better="higher", n=0, undefined=count),
    )


def _record(count: int, name: str) -> RunRecord:
    return RunRecord(
        name=f"{name}-monocular_depth-0a1b2c3d",
        identity="0a1b2c3d" * 8,
        task="rpx-depth/monocular_depth",
        model=name,
        data=name,
        protocol=None,
        primary=_PRIMARY,
        dataset_samples=2 * count,
        selected_samples=count,
        sequences=1,
        warnings=(name,),
        inputs={"model": {"name": name, "options": {"path": name}}, "seed": 0},
    )


def _writer(name: str) -> Writer:
    return Writer(
        writer="worker-0",
        started="2026-03-14T09:26:53Z",
        host=name,
        device="cpu",
        versions={"rpx-core": "0.1.0"},
        model={"weights": name},
    )
