"""What plugins say of their samples reaches whoever reads the results, in every form of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from rpx_core.errors import ExitCode
from tests.toys.bench import Bench
from tests.toys.lab import Lab, toy_samples

LOW = sum(sample["level"] < 10 for sample in toy_samples())
HIGH = sum(sample["level"] > 20 for sample in toy_samples())
ALL = len(toy_samples())


def test_why_a_metric_is_undefined_stands_in_the_row_and_counts_in_the_report(
    bench: Bench,
) -> None:
    outcome = bench.run(metrics={"error": "toy-error", "picky": "toy-picky"})
    reasons = {
        row.id: row.metrics["picky"].reason for row in outcome.results.rows if row.unit == "sample"
    }
    assert reasons == {
        sample["id"]: "too low to judge" if sample["level"] < 10 else None
        for sample in toy_samples()
    }
    for aggregate in ("sample", "pooled", "sample_median"):
        number = outcome.report.number(f"picky.abs@{aggregate}")
        assert (number.n, number.undefined, number.failed) == (ALL - LOW, LOW, 0)
    assert outcome.report.number("error.abs@sample").undefined == 0
    assert outcome.exit_code == ExitCode.OK


def test_why_a_metric_is_undefined_stands_in_the_table_of_samples(lab: Lab) -> None:
    lab.rpx("--set", 'metrics.picky.name="toy-picky"', "--as", "csv")
    table = (lab.run_directory() / "report" / "per_sample.csv").read_text(encoding="utf-8")
    assert table.count("too low to judge") == LOW


@pytest.mark.parametrize("extent", ["sample", "sequence"])
def test_what_an_alignment_doubts_is_a_warning_with_its_count(bench: Bench, extent: str) -> None:
    outcome = bench.run(align=f"doubt:{extent}")
    assert outcome.report.warnings == (f"above 20 ({HIGH} samples)",)
    noted = {row.id for row in outcome.results.rows if row.note is not None}
    assert noted == {sample["id"] for sample in toy_samples() if sample["level"] > 20}


def picture(directory: Path, pictures: Any, caption: str) -> Any:
    """The pixels of the picture with this caption."""
    (path,) = (path for found, path in pictures if found == caption)
    return np.asarray(Image.open(directory / path))


def test_a_run_about_sequences_lists_and_shows_its_worst_ones(bench: Bench) -> None:
    outcome = bench.run(
        metrics={"drift": "toy-drift", "level": "toy-error"},
        primary="drift.drift",
        options={"pictures": True},
        execution={"previews": 2},
    )
    worst = outcome.report.worst
    drifts = [one.value for one in worst]
    assert drifts == sorted(drifts, reverse=True)
    rows = {row.id: row for row in outcome.results.rows if row.unit == "sequence"}
    assert {one.id for one in worst} <= set(rows)
    assert [len(one.pictures) for one in worst] == [2, 2, 0, 0, 0, 0]


def test_a_sequence_is_shown_by_its_middle_frame_with_the_image(bench: Bench) -> None:
    levels = [3.0, 90.0, 200.0, 40.0, 7.0]
    bench.write_set(
        [
            {"id": f"a_clean_{frame}", "scene": "a", "phase": "clean", "level": level}
            for frame, level in enumerate(levels)
        ]
    )
    outcome = bench.run(
        metrics={"drift": "toy-drift"}, options={"pictures": True}, execution={"previews": 1}
    )
    (only,) = outcome.report.worst
    shade = picture(outcome.directory, only.pictures, "prediction")
    assert abs(int(shade[0, 0, 0]) - levels[2]) <= 1
    assert (picture(outcome.directory, only.pictures, "rgb") == 0).all()


def test_what_to_do_about_a_failed_sample_is_said_wherever_it_is_read(lab: Lab) -> None:
    samples = toy_samples()
    samples[7]["level"] = "high"
    lab.write_manifest(samples)
    ran = lab.rpx("--as", "json,markdown,html,csv")
    assert ran.returncode == ExitCode.INCOMPLETE
    report = lab.run_directory() / "report"
    result = json.loads((report / "result.json").read_bytes())
    (failed,) = result["failures"]
    assert failed["id"] == samples[7]["id"]
    assert failed["failure"]["hint"] == "write <1.5>, not <high>"
    plain = "level is not a number (write <1.5>, not <high>)"
    assert plain in " ".join(ran.stdout.split())
    assert plain in (report / "per_sample.csv").read_text(encoding="utf-8")
    page = plain.replace("<", "&lt;").replace(">", "&gt;")
    assert page in (report / "report.html").read_text(encoding="utf-8")
    summary = plain.replace("<", "&#60;").replace(">", "&#62;")
    assert summary in (report / "summary.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--set", 'metrics.bad.name="toy-unbuilt"'),
            "toy_engine_metrics:Unbuilt of toy-engine/toy-unbuilt failed: LookupError: no such "
            "constant",
        ),
        (("--task", "toy_step"), "TypeError: unsupported operand"),
    ],
    ids=["metric", "arrange"],
)
def test_plugin_code_that_raises_before_the_run_ends_it_with_one_error(
    lab: Lab, arguments: tuple[str, ...], says: str
) -> None:
    samples = toy_samples()
    if "toy_step" in arguments:
        samples[1]["level"] = "high"
    lab.write_manifest(samples, tasks=["toy_level", "toy_step"])
    ran = lab.rpx(*arguments)
    assert ran.returncode == ExitCode.PLUGIN
    assert ran.stderr.count("error:") == 1
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (lab.folder / "runs").exists() or not list((lab.folder / "runs").iterdir())
