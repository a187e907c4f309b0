"""Stacks of finished runs: what they are of, how samples join, and what is undefined."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from rpx_core.contracts import Unit
from rpx_core.errors import ExitCode
from rpx_core.images import encode_png
from rpx_core.journal import Journal
from rpx_core.report import Row
from rpx_core.run import Outcome, Request
from rpx_core.run_json import read_record
from tests.toys.stack_bench import DEPTH, MASKS, SHAPE, StackBench

SGC = "sgc.sgc@sample"
MOVED = {"name": "toy-echo", "options": {"shift": 6}}


def rows(outcome: Outcome) -> dict[str, Row]:
    journal = outcome.directory / "journal"
    with Journal(journal, outcome.report.run.identity) as opened:
        return {stored.row.id: stored.row for stored in opened.rows()}


def reasons(outcome: Outcome) -> dict[str, str]:
    """Why samples are undefined, by id."""
    found = {name: row.metrics["sgc"].reason for name, row in rows(outcome).items()}
    return {name: reason for name, reason in found.items() if reason is not None}


def test_true_masks_and_true_depth_agree(shelf: StackBench, masks: Path, depth: Path) -> None:
    outcome = shelf.stack(masks, depth)
    assert outcome.exit_code is ExitCode.OK
    assert outcome.report.status.complete
    assert outcome.report.status.evaluated_samples == 8
    number = outcome.report.number(SGC)
    assert (number.value, number.n, number.undefined, number.headline) == (1.0, 8, 0, True)


def test_depth_that_is_moved_agrees_in_part(shelf: StackBench, masks: Path) -> None:
    outcome = shelf.stack(masks, shelf.run(DEPTH, model=MOVED))
    # Moved by its width, the box begins where it should end: one edge of two is right.
    assert outcome.report.number(SGC).value == 0.5


def test_the_published_rules_have_the_published_measure(
    shelf: StackBench, masks: Path, depth: Path
) -> None:
    report = shelf.stack(masks, depth, readiness="rpx-1").report
    assert report.primary == "sgc.sgc@pooled"
    assert report.run.inputs["metrics"]["sgc"]["name"] == "rpx-core/sgc-published"
    assert 0 < (report.number("sgc.sgc@pooled").value or 0) < 1


def test_rows_keep_what_the_runs_know_of_samples(
    shelf: StackBench, masks: Path, depth: Path
) -> None:
    row = rows(shelf.stack(masks, depth))["scene1_clean_0"]
    assert row.unit is Unit.STACK
    assert (row.sequence, row.frame) == ("scene1_clean", 0)
    assert (row.scene, row.phase, row.difficulty) == ("scene1", "clean", "hard")
    assert row.tags == {"site": "lab"}
    assert row.rgb_digest is not None


def test_a_stack_has_slices_cells_and_readiness(
    shelf: StackBench, masks: Path, depth: Path
) -> None:
    outcome = shelf.stack(masks, depth, request=Request(by=("phase",), reporters=()))
    slices = {part.value: part.samples for part in outcome.report.slices}
    assert slices == {"clean": 4, "clutter": 4}
    assert {cell.scene for cell in outcome.results.cells} == {"scene0", "scene1"}
    scores = {score.name: score.value for score in outcome.report.readiness.scores}
    assert scores["esd_hard"] == 1.0


def test_the_order_of_the_runs_does_not_matter(shelf: StackBench, masks: Path, depth: Path) -> None:
    forth, back = shelf.plan(masks, depth), shelf.plan(depth, masks)
    assert forth.record == back.record
    assert forth.record.task == "object_segmentation+monocular_depth"


def test_the_identity_is_that_of_the_runs_and_the_metric(
    shelf: StackBench, masks: Path, depth: Path
) -> None:
    plain = shelf.plan(masks, depth).record
    tolerant = {"metrics": {"sgc": {"name": "sgc", "options": {"tolerance_px": 5}}}}
    others = [
        shelf.plan(masks, shelf.run(DEPTH, model=MOVED)).record,
        shelf.plan(masks, depth, **tolerant).record,
        shelf.plan(masks, depth, readiness="rpx-1").record,
    ]
    assert len({plain.identity, *(record.identity for record in others)}) == 4
    assert plain.inputs["runs"]["monocular_depth"]["identity"] == read_record(depth).identity
    assert {"rpx-core", "toy-stack", "numpy"} <= plain.inputs["distributions"].keys()


def test_where_runs_and_data_lie_is_no_part_of_the_identity(
    shelf: StackBench, masks: Path, depth: Path, tmp_path: Path
) -> None:
    elsewhere = shutil.copytree(depth, tmp_path / "elsewhere")
    settings = {"data": shelf.data(), "execution": {"max_failed": 3, "previews": 1}}
    moved = shelf.plan(masks, elsewhere, **settings)
    assert moved.record == shelf.plan(masks, depth).record


def test_a_run_done_again_with_other_results_makes_another_stack(stack_bench: StackBench) -> None:
    masks, depth = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    before = stack_bench.plan(masks, depth).record.identity

    shutil.rmtree(depth / "journal")
    assert stack_bench.run(DEPTH) == depth
    assert stack_bench.plan(masks, depth).record.identity == before

    (stack_bench.folder / "set" / "depth" / "scene0_clean_0.npy").unlink()
    shutil.rmtree(depth / "journal")
    assert stack_bench.run(DEPTH) == depth
    assert stack_bench.plan(masks, depth).record.identity != before


def test_a_sample_that_one_run_lacks_is_undefined_and_counted(
    shelf: StackBench, masks: Path
) -> None:
    outcome = shelf.stack(shelf.run(DEPTH, data=shelf.data(limit=3)), masks)
    number = outcome.report.number(SGC)
    assert (number.value, number.n, number.undefined, number.failed) == (1.0, 3, 5, 0)
    assert set(reasons(outcome).values()) == {"not in the monocular_depth run"}
    assert outcome.report.warnings == (
        "5 of 8 samples are undefined: not in the monocular_depth run",
    )
    assert outcome.report.status.partial == (
        "the monocular_depth run is limited to 3 of 8 samples",
    )
    assert outcome.exit_code is ExitCode.OK


def test_a_sample_of_the_second_run_alone_is_counted_too(shelf: StackBench, depth: Path) -> None:
    outcome = shelf.stack(shelf.run(MASKS, data=shelf.data(limit=3)), depth)
    assert outcome.report.number(SGC).undefined == 5
    assert set(reasons(outcome).values()) == {"not in the object_segmentation run"}


def test_a_sample_with_another_image_is_undefined(stack_bench: StackBench) -> None:
    depth = stack_bench.run(DEPTH)
    other = np.zeros((*SHAPE, 3), np.uint8)
    (stack_bench.folder / "set" / "rgb" / "scene0_clean_1.png").write_bytes(encode_png(other))
    outcome = stack_bench.stack(stack_bench.run(MASKS, Request(fresh=True, reporters=())), depth)
    assert reasons(outcome) == {"scene0_clean_1": "the runs saw different images"}
    assert outcome.report.number(SGC).n == 7


def test_runs_of_two_manifests_of_the_same_images_join(stack_bench: StackBench) -> None:
    stack_bench.write_set("again", scenes=3)
    outcome = stack_bench.stack(
        stack_bench.run(MASKS), stack_bench.run(DEPTH, data=stack_bench.data("again"))
    )
    assert outcome.report.number(SGC).n == 8
    assert outcome.report.number(SGC).undefined == 4
    assert outcome.report.run.data == "set + again"


def test_a_sample_that_failed_in_a_run_is_undefined(shelf: StackBench, masks: Path) -> None:
    broken = {"name": "toy-echo", "options": {"raises": ["scene0_clean_0"]}}
    outcome = shelf.stack(masks, shelf.run(DEPTH, model=broken))
    assert reasons(outcome) == {"scene0_clean_0": "failed in the monocular_depth run (predict)"}
    assert outcome.exit_code is ExitCode.OK


def test_flat_depth_is_undefined_for_every_sample(shelf: StackBench, masks: Path) -> None:
    flat = {"name": "toy-echo", "options": {"scale": 0.01}}
    outcome = shelf.stack(masks, shelf.run(DEPTH, model=flat))
    assert set(reasons(outcome).values()) == {"the depth has no edge that can be judged"}
    number = outcome.report.number(SGC)
    assert (number.value, number.n, number.undefined) == (None, 0, 8)
    assert number.reason == "undefined for all 8: the depth has no edge that can be judged"


def test_a_metric_gets_predictions_in_the_order_that_it_declares(
    shelf: StackBench, masks: Path, depth: Path
) -> None:
    report = shelf.stack(depth, masks, metrics={"sum": "toy-sum", "sgc": "sgc"}).report
    assert report.primary == "sum.level@sample"
    # A box of 6 columns of 24: labels 0.25 on average, a quarter at 1 m, the rest at 3 m.
    assert report.number("sum.level@sample").value == pytest.approx(0.25 + 0.25 + 2.25)
    assert report.number(SGC).value == 1.0
