"""Stacks as runs: resuming, shards, runs in progress, alignment, broken files, pictures."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from rpx_core.arrays import encode_npy
from rpx_core.errors import ConfigError, ExitCode
from rpx_core.images import decode_rgb, encode_png
from rpx_core.results import collect, stored_metrics
from rpx_core.run import Request
from rpx_core.run_json import read_record
from rpx_core.stack.run import run_stack
from tests.toys.bench import QUIET, facts
from tests.toys.stack_bench import DEPTH, MASKS, SHAPE, StackBench

SGC = "sgc.sgc@sample"
FIRST, SECOND = (Request(shard=(index, 2), reporters=()) for index in (1, 2))


class Stop:
    """A progress that ends the command after so many samples, and counts them."""

    def __init__(self, after: int | None = None) -> None:
        self.after = after
        self.begun: tuple[int, int] | None = None
        self.samples = 0

    def begin(self, total: int, done: int) -> None:
        self.begun = (total, done)

    def advance(self, samples: int) -> None:
        self.samples += samples
        if self.after is not None and self.samples >= self.after:
            raise KeyboardInterrupt


def test_an_interrupted_stack_resumes_to_the_same_numbers(stack_bench: StackBench) -> None:
    runs = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    whole = stack_bench.stack(*runs, output="whole")

    with pytest.raises(KeyboardInterrupt):
        run_stack(stack_bench.plan(*runs), stack_bench.host, QUIET, Stop(after=4))
    rest = Stop()
    resumed = run_stack(stack_bench.plan(*runs), stack_bench.host, QUIET, rest)

    assert (rest.begun, rest.samples) == ((8, 4), 4)
    assert facts(resumed.report) == facts(whole.report)


def test_a_finished_stack_measures_nothing_again(stack_bench: StackBench) -> None:
    runs = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    stack_bench.stack(*runs)
    again = Stop()
    run_stack(stack_bench.plan(*runs), stack_bench.host, QUIET, again)
    assert again.begun is None


def test_a_stack_says_how_many_samples_it_did(stack_bench: StackBench) -> None:
    runs = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    assert stack_bench.stack(*runs).samples_done == 8
    assert stack_bench.stack(*runs).samples_done == 0


def test_fresh_measures_everything_again(stack_bench: StackBench) -> None:
    runs = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    stack_bench.stack(*runs)
    again = Stop()
    run_stack(stack_bench.plan(*runs), stack_bench.host, Request(fresh=True, reporters=()), again)
    assert again.samples == 8


def test_shards_put_together_are_the_whole(stack_bench: StackBench) -> None:
    runs = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    whole = stack_bench.stack(*runs, output="whole")

    half = stack_bench.stack(*runs, request=FIRST)
    assert half.report.status.partial == ("shard 1 of 2", "2 of 4 sequences are finished")
    assert half.exit_code is ExitCode.OK
    both = stack_bench.stack(*runs, request=SECOND)

    assert facts(both.report) == facts(whole.report)


def test_a_shard_without_a_sequence_is_done_at_once(stack_bench: StackBench) -> None:
    runs = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    outcome = stack_bench.stack(*runs, request=Request(shard=(5, 9), reporters=()))
    assert outcome.report.status.partial == ("shard 5 of 9", "0 of 4 sequences are finished")
    assert outcome.report.number(SGC).reason == "there is no evidence"


def test_a_stack_of_runs_in_progress_is_partial_and_a_later_one_is_not(
    stack_bench: StackBench,
) -> None:
    masks, depth = stack_bench.run(MASKS), stack_bench.run(DEPTH, FIRST)
    early = stack_bench.stack(masks, depth)
    assert early.report.status.partial == ("the monocular_depth run has finished 2 of 4 sequences",)
    assert not early.report.status.complete
    assert (early.report.number(SGC).n, early.report.number(SGC).undefined) == (4, 4)

    stack_bench.run(DEPTH, SECOND)
    late = stack_bench.stack(masks, depth)
    assert late.report.status.complete
    assert late.directory != early.directory
    assert late.report.number(SGC).n == 8


def test_a_missing_prediction_is_a_failed_sample_until_it_is_there(stack_bench: StackBench) -> None:
    masks, depth = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    file = depth / "predictions" / "scene0_clean_0.npy"
    content = file.read_bytes()
    file.unlink()

    broken = stack_bench.stack(masks, depth)
    (failed,) = broken.report.failures
    assert broken.exit_code is ExitCode.INCOMPLETE
    assert (failed.id, failed.failure.stage) == ("scene0_clean_0", "load")
    assert failed.failure.message.startswith(
        "in the monocular_depth run: sample scene0_clean_0: no prediction file"
    )

    file.write_bytes(content)
    repaired = stack_bench.stack(masks, depth)
    assert repaired.exit_code is ExitCode.OK
    assert repaired.directory != broken.directory, "other predictions make another stack"
    assert repaired.report.number(SGC).n == 8


@pytest.mark.parametrize(
    ("content", "stage"),
    [(b"\x93NUMPY nonsense", "load"), (encode_npy(np.ones((2, 3), np.float32)), "measure")],
)
def test_a_damaged_prediction_fails_its_sample_alone(
    stack_bench: StackBench, content: bytes, stage: str
) -> None:
    masks, depth = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    (depth / "predictions" / "scene1_clutter_1.npy").write_bytes(content)
    outcome = stack_bench.stack(masks, depth)
    assert [(one.id, one.failure.stage) for one in outcome.report.failures] == [
        ("scene1_clutter_1", stage)
    ]
    assert outcome.report.number(SGC).n == 7


def test_a_boundary_that_fails_fails_its_sample_alone(stack_bench: StackBench) -> None:
    masks = stack_bench.run(MASKS, options={"edge": "scene0_clean_0"})
    outcome = stack_bench.stack(masks, stack_bench.run(DEPTH))
    assert [one.failure.error for one in outcome.report.failures] == ["RuntimeError"]


def test_a_boundary_of_another_kind_is_told(stack_bench: StackBench) -> None:
    outcome = stack_bench.stack(
        stack_bench.run(MASKS, options={"edge": "float"}), stack_bench.run(DEPTH)
    )
    assert len(outcome.report.failures) == 8
    assert "did not return a 2-D bool array" in outcome.report.failures[0].failure.message


@pytest.mark.parametrize("scope", ["sample", "sequence"])
def test_predictions_are_aligned_as_their_run_did(stack_bench: StackBench, scope: str) -> None:
    small = {"name": "toy-echo", "options": {"scale": 0.01}}
    align = {"method": "median", "scope": scope}
    depth = stack_bench.run(DEPTH, model=small, align=align)
    masks = stack_bench.run(MASKS)
    # A hundredth of the depth has no jump of half a metre until it is aligned.
    assert stack_bench.stack(masks, depth, data=stack_bench.data()).report.number(SGC).value == 1.0


def test_an_undefined_alignment_is_undefined(stack_bench: StackBench) -> None:
    depth = stack_bench.run(DEPTH, align="undefined")
    outcome = stack_bench.stack(stack_bench.run(MASKS), depth, data=stack_bench.data())
    assert outcome.report.number(SGC).undefined == 8
    (reason,) = {row.metrics["sgc"].reason for row in outcome.results.rows}
    assert reason == "the alignment of the monocular_depth run is undefined"


def test_aligned_runs_need_their_own_data(stack_bench: StackBench) -> None:
    masks, depth = stack_bench.run(MASKS), stack_bench.run(DEPTH, align="median")
    with pytest.raises(ConfigError, match=r"monocular_depth run aligned .*\(median\)") as caught:
        stack_bench.plan(masks, depth)
    assert "--data DATA" in (caught.value.hint or "")
    stack_bench.write_set("again", scenes=3)
    with pytest.raises(ConfigError, match="again is not the data of the monocular_depth run"):
        stack_bench.plan(masks, depth, data=stack_bench.data("again"))


def captions(stack_bench: StackBench, directory: Path, sample: str = "scene0_clean_0") -> list[str]:
    index = json.loads((directory / "previews" / sample / "pictures.json").read_bytes())
    return [picture["caption"] for picture in index]


def test_the_worst_samples_have_pictures_of_their_edges(stack_bench: StackBench) -> None:
    masks, depth = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    outcome = stack_bench.stack(masks, depth, execution={"previews": 2})
    assert [len(worst.pictures) for worst in outcome.report.worst] == [1, 1, 0, 0, 0, 0]
    ((caption, path),) = outcome.report.worst[0].pictures
    assert caption == "edges"
    content = (outcome.directory / path).read_bytes()
    assert decode_rgb(content, name=path).shape == (*SHAPE, 3)


def test_images_come_from_the_data_whenever_it_is_named(stack_bench: StackBench) -> None:
    masks, depth = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    without = stack_bench.stack(masks, depth, execution={"previews": 6})
    assert len(captions(stack_bench, without.directory)) == 1
    with_data = stack_bench.stack(masks, depth, data=stack_bench.data())
    assert with_data.directory == without.directory
    assert captions(stack_bench, with_data.directory)[0] == "rgb"
    assert len(with_data.report.worst[0].pictures) == 2
    later = stack_bench.stack(masks, depth, execution={"previews": 6})
    assert len(later.report.worst[0].pictures) == 2


def test_an_image_that_has_changed_is_not_shown(stack_bench: StackBench) -> None:
    masks, depth = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    for image in (stack_bench.folder / "set" / "rgb").glob("*.png"):
        image.write_bytes(encode_png(np.zeros((*SHAPE, 3), np.uint8)))
    outcome = stack_bench.stack(masks, depth, data=stack_bench.data())
    assert len(captions(stack_bench, outcome.directory)) == 1


def test_a_metric_without_pictures_has_none(stack_bench: StackBench) -> None:
    outcome = stack_bench.stack(
        stack_bench.run(MASKS), stack_bench.run(DEPTH), metrics={"sum": "toy-sum"}
    )
    assert not any(worst.pictures for worst in outcome.report.worst)
    assert not (outcome.directory / "previews").exists()


def test_a_stack_is_rendered_again_like_any_run(stack_bench: StackBench) -> None:
    masks, depth = stack_bench.run(MASKS), stack_bench.run(DEPTH, data=stack_bench.data(limit=3))
    outcome = stack_bench.stack(masks, depth, request=Request())
    record = read_record(outcome.directory)
    again = collect(outcome.directory, record, stored_metrics(record, stack_bench.host))
    assert again.report == outcome.report
    written = {path.name for path in outcome.written}
    assert written == {"result.json", "summary.md", "report.html", "per_stack.csv", "cells.csv"}
    table = (outcome.directory / "report" / "per_stack.csv").read_text().splitlines()
    assert len(table) == 9
    assert "sgc.sgc" in table[0]


def test_everything_derived_can_be_deleted(stack_bench: StackBench) -> None:
    runs = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    before = stack_bench.stack(*runs, request=Request(), execution={"previews": 6})
    for name in ("report", "previews"):
        shutil.rmtree(before.directory / name)
    after = stack_bench.stack(*runs, request=Request(), execution={"previews": 6})
    assert after.report == before.report
