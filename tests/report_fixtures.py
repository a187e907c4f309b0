"""Results as a finished depth run would give them, and ways to make them nasty.

Everything is drawn from a seeded generator; the pictures are painted here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Difficulty, Phase, Unit
from rpx_core.readiness.scores import Basis, compute_readiness
from rpx_core.report import (
    Cell,
    FailedSample,
    Failure,
    Measured,
    Number,
    Readiness,
    Report,
    Results,
    Row,
    RunRecord,
    Slice,
    Status,
    WorstSample,
    Writer,
)

from .report_pictures import paint_scene

SCENES = (
    ("kitchen-01", Difficulty.EASY),
    ("desk-04", Difficulty.EASY),
    ("shelf-02", Difficulty.MEDIUM),
    ("workbench-03", Difficulty.MEDIUM),
    ("garage-01", Difficulty.HARD),
    ("warehouse-07", Difficulty.HARD),
)
ERRORS = {Difficulty.EASY: 0.062, Difficulty.MEDIUM: 0.081, Difficulty.HARD: 0.118}
FACTORS = {Phase.CLUTTER: 1.22, Phase.INTERACTION: 1.42, Phase.CLEAN: 0.86}
HOSTILE = "</td><script>alert(1)</script>\"'&\u202e|`=<img src=http://evil.example/x>"

_MAPPINGS = {"values", "tags", "alignment", "metrics", "versions", "model", "distributions"}
_ENUMERATED = {
    *(member.value for kind in (Phase, Difficulty, Unit) for member in kind),
    *("higher", "lower", "better", "worse", "equal", "rpx-1", "rpx-2"),
    *("load", "predict", "validate", "save", "align", "measure", "crash"),
}


def build_results(directory: Path | None = None, *, frames: int = 20, lost: int = 4) -> Results:
    """A monocular depth run of 16 sequences; hard scenes have no interaction phase.

    With a directory, pictures of the worst samples are painted into it. `lost` samples failed.
    """
    rows = _rows(frames, lost)
    worst, cells = _worst(rows, directory), _cells(rows)
    report = Report(
        run=_record(rows),
        status=Status(
            complete=True,
            dataset_samples=len(rows),
            selected_samples=len(rows),
            evaluated_samples=len(rows) - lost,
            failed_samples=lost,
        ),
        primary="depth.absrel@sample",
        numbers=_numbers(rows),
        readiness=_readiness(cells),
        slices=_slices(rows),
        failures=tuple(
            FailedSample(id=row.id, sequence=row.sequence, failure=row.failure)
            for row in rows
            if row.failure is not None
        ),
        worst=worst,
        warnings=("18 samples have fewer than 1,000 valid pixels; their errors are noisy",),
        writers=(_writer("worker-0"), _writer("worker-1")),
    )
    return Results(report=report, rows=rows, cells=cells, run_directory=directory)


def make_partial(results: Results) -> Results:
    """The same results as those of a run that was limited."""
    count = len(results.rows)
    status = Status(
        complete=False,
        partial=(f"limited to {count} samples", "shard 1 of 4"),
        dataset_samples=10 * count,
        selected_samples=count,
        evaluated_samples=count - len(results.report.failures),
        failed_samples=len(results.report.failures),
    )
    return replace(results, report=results.report.model_copy(update={"status": status}))


def poison(results: Results, text: str = HOSTILE) -> Results:
    """The same results with `text` before every string and key that is not one of a fixed set."""

    def spoil(value: Any, *, keys: bool = False) -> Any:
        if isinstance(value, Mapping):
            return {
                f"{text}{key}" if keys else key: part
                if key in {"schema", "kind"}
                else spoil(part, keys=key in _MAPPINGS)
                for key, part in value.items()
            }
        if isinstance(value, list | tuple):
            return [spoil(part) for part in value]
        is_free = isinstance(value, str) and value not in _ENUMERATED
        return f"{text}{value}" if is_free else value

    def through(model: Any) -> Any:
        return type(model).model_validate(spoil(model.model_dump(mode="json", by_alias=True)))

    return Results(
        report=through(results.report),
        rows=[through(row) for row in results.rows],
        cells=[through(cell) for cell in results.cells],
        run_directory=results.run_directory,
        others=[through(other) for other in results.others],
    )


def _record(rows: Sequence[Row]) -> RunRecord:
    return RunRecord(
        name="depth-anything-v2-small-monocular_depth-tabletop-9f2c61d0",
        identity="9f2c61d07be4a3585c10e6f7d2b94aa0c3e1f08457d96b2ae0f4c8137d5e6b9a",
        task="monocular_depth",
        model="depth-anything-v2-small",
        data="tabletop-phases/test",
        protocol="tabletop-depth-1",
        primary="depth.absrel@sample",
        dataset_samples=len(rows),
        selected_samples=len(rows),
        sequences=len({row.sequence for row in rows}),
        inputs={
            "config": {
                "task": "monocular_depth",
                "model": {"name": "depth-anything-v2-small", "options": {"size_px": 518}},
                "data": {"name": "tabletop-phases", "split": "test"},
                "align": {"method": "median", "scope": "sequence"},
                "seed": 0,
            },
            "dataset_id": "sha256:0b6f…",
            "metrics": {"depth": {"name": "rpx-depth/depth-standard", "version": "1"}},
            "distributions": {"numpy": "2.1.3", "rpx-core": "0.1.0", "rpx-depth": "0.1.0"},
        },
    )


def _writer(name: str) -> Writer:
    return Writer(
        writer=name,
        started="2026-03-14T09:26:53Z",
        host="bench-2",
        device="cuda:0 NVIDIA RTX 4090",
        versions={"python": "3.11.9", "rpx-core": "0.1.0", "numpy": "2.1.3"},
        model={"weights": "sha256:715fade1…", "precision": "float16"},
    )


def _rows(frames: int, lost: int) -> list[Row]:
    generator = np.random.default_rng(20)
    rows: list[Row] = []
    for scene, difficulty in SCENES:
        for phase in Phase:
            if difficulty is Difficulty.HARD and phase is Phase.INTERACTION:
                continue
            level = ERRORS[difficulty] * FACTORS[phase] * generator.lognormal(0, 0.12)
            drift = np.cumsum(generator.normal(0, 0.05, frames))
            for frame in range(frames):
                absrel = float(level * np.exp(drift[frame] + generator.normal(0, 0.12)))
                rows.append(_row(scene, (phase, difficulty), frame, absrel))
    if frames > 3:
        rows[3] = _undefined(rows[3])
    everywhere = range(len(rows))
    spread = np.linspace(7, len(rows) - 3, lost).astype(int).tolist()
    for number, spot in enumerate(everywhere if lost >= len(rows) else spread):
        rows[spot] = _failed(rows[spot], number)
    return sorted(rows, key=lambda row: row.id)


def _row(scene: str, place: tuple[Phase, Difficulty], frame: int, absrel: float) -> Row:
    phase, difficulty = place
    values = {
        "absrel": absrel,
        "rmse": 2.31 * absrel + 0.004,
        "delta1": 1 - 0.52 * min(absrel, 1.5) ** 1.1,
        "psnr": None,
        "coverage": 0.9993 - 0.08 * min(absrel, 1),
    }
    return Row(
        unit=Unit.SAMPLE,
        id=f"{scene}_{phase.value}_{frame:05d}",
        sequence=f"{scene}_{phase.value}",
        frame=frame,
        scene=scene,
        phase=phase,
        difficulty=difficulty,
        tags={"lighting": "dim" if frame % 3 == 0 else "bright", "gain": frame % 4},
        alignment={"scale": 1 + absrel / 3},
        metrics={"depth": Measured(values=values, infinite=("psnr",), state=(0, 8, 1))},
    )


def _failed(row: Row, number: int) -> Row:
    failure = (
        Failure(
            stage="validate",
            error="ModelError",
            message=f"sample {row.id}: depth is (239, 320), expected (240, 320); resize in the "
            "adapter's finalize()",
        )
        if number % 2 == 0
        else Failure(stage="load", error="ManifestError", message=f"depth/{row.id}.png: not found")
    )
    return row.model_copy(update={"metrics": {}, "alignment": {}, "failure": failure})


def _undefined(row: Row) -> Row:
    reason = "no valid pixel in the ground truth"
    values = dict.fromkeys(row.metrics["depth"].values)
    return row.model_copy(update={"metrics": {"depth": Measured(values=values, reason=reason)}})


def _values(rows: Sequence[Row], output: str) -> NDArray[np.float64]:
    measured = (row.metrics["depth"].values[output] for row in rows if "depth" in row.metrics)
    return np.array([value for value in measured if value is not None])


def _numbers(rows: Sequence[Row]) -> tuple[Number, ...]:
    plain = [
        _number(rows, output, aggregate)
        for output in ("absrel", "rmse", "delta1", "coverage")
        for aggregate in ("sample", "sample_median", "group")
    ]
    failed = _count_failed(rows)
    unknown = sum(bool(row.metrics and row.metrics["depth"].reason) for row in rows)
    psnr = Number(
        address="depth.psnr@sample",
        label="depth",
        output="psnr",
        aggregate="sample",
        value=None,
        reason="infinite",
        better="higher",
        unit="dB",
        n=0,
        undefined=unknown,
        failed=failed,
        infinite=len(rows) - unknown - failed,
        headline=True,
    )
    stability = Number(
        address="stability.ts@pooled",
        label="stability",
        output="ts",
        aggregate="pooled",
        value=None,
        reason="the records have no camera poses",
        better="higher",
        n=0,
        undefined=len(rows),
        headline=True,
    )
    return (*plain, psnr, stability)


def _number(rows: Sequence[Row], output: str, aggregate: str) -> Number:
    values = _values(rows, output)
    failed = _count_failed(rows)
    return Number(
        address=f"depth.{output}@{aggregate}",
        label="depth",
        output=output,
        aggregate=aggregate,
        value=_aggregate(rows, output, aggregate),
        reason=None if len(values) else "no samples",
        better="lower" if output in {"absrel", "rmse"} else "higher",
        unit="m" if output == "rmse" else "",
        n=len(values),
        undefined=len(rows) - len(values) - failed,
        failed=failed,
        headline=aggregate == "sample",
    )


def _aggregate(rows: Sequence[Row], output: str, aggregate: str) -> float | None:
    values = _values(rows, output)
    if not len(values):
        return None
    if aggregate == "sample_median":
        return float(np.median(values))
    if aggregate == "sample":
        return float(values.mean())
    groups = [_values(_select(rows, scene=scene), output) for scene, _ in SCENES]
    return float(np.mean([group.mean() for group in groups if len(group)]))


def _count_failed(rows: Sequence[Row]) -> int:
    return sum(row.failure is not None for row in rows)


def _select(rows: Sequence[Row], **wanted: object) -> list[Row]:
    return [row for row in rows if all(getattr(row, key) == wanted[key] for key in wanted)]


def _readiness(cells: Sequence[Cell]) -> Readiness:
    basis = Basis("depth.absrel@sample", cells, better="lower", unit="", stability=None)
    return compute_readiness("rpx-2", basis)


def _slices(rows: Sequence[Row]) -> tuple[Slice, ...]:
    groups = [("scene", scene, _select(rows, scene=scene)) for scene, _ in SCENES]
    for light in ("bright", "dim"):
        groups.append(("lighting", light, [row for row in rows if row.tags["lighting"] == light]))
    return tuple(
        Slice(
            key=key,
            value=value,
            samples=len(group),
            numbers=tuple(number for number in _numbers(group) if number.headline),
        )
        for key, value, group in groups
    )


def _cells(rows: Sequence[Row]) -> list[Cell]:
    cells = []
    for scene, difficulty in SCENES:
        for phase in Phase:
            mine = _select(rows, scene=scene, phase=phase)
            number = _number(mine, "absrel", "sample") if mine else None
            cells.append(
                Cell(
                    label="depth",
                    output="absrel",
                    phase=phase,
                    difficulty=difficulty,
                    scene=scene,
                    value=number.value if number else None,
                    reason=None if number else "no samples",
                    n=number.n if number else 0,
                    failed=number.failed if number else 0,
                )
            )
    return cells


def _worst(rows: Sequence[Row], directory: Path | None) -> tuple[WorstSample, ...]:
    measured = [row for row in rows if "depth" in row.metrics and not row.metrics["depth"].reason]
    measured.sort(key=lambda row: -(row.metrics["depth"].values["absrel"] or 0))
    worst = []
    for seed, row in enumerate(measured[:4]):
        pictures = _paint(seed, row.id, directory) if directory else ()
        values = row.metrics["depth"].values
        value = values["absrel"] or 0.0
        worst.append(WorstSample(id=row.id, value=value, values=values, pictures=pictures))
    return tuple(worst)


def _paint(seed: int, name: str, directory: Path) -> tuple[tuple[str, str], ...]:
    from PIL import Image

    (directory / "previews").mkdir(parents=True, exist_ok=True)
    pictures = []
    for number, (caption, image) in enumerate(paint_scene(seed).items()):
        path = f"previews/{name}-{number}.png"
        Image.fromarray(image).save(directory / path)
        pictures.append((caption, path))
    return tuple(pictures)
