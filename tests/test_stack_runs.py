"""Stacks as runs: resuming, shards, runs in progress, alignment, broken files, pictures."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rpx_core.arrays import encode_npy
from rpx_core.errors import ConfigError, ExitCode
from rpx_core.host import Host
from rpx_core.images import decode_rgb, encode_png
from rpx_core.results import collect, read_record, stored_metrics
from rpx_core.run import Request
from rpx_core.stack.run import run_stack
from tests.toys.bench import QUIET, facts
from tests.toys.stack_bench import DEPTH, MASKS, SHAPE, StackBench, stack_toys

SGC = "sgc.sgc@sample"
FIRST, SECOND = (Request(shard=(index, 2), reporters=()) for index in (1, 2))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with stack_toys(tmp_path_factory.mktemp("stack") / "site") as found:
        yield found


@pytest.fixture
def bench(tmp_path: Path, host: Host) -> StackBench:
    """A bench with two scenes of two phases of two frames."""
    made = StackBench(tmp_path, host)
    made.write_set()
    return made


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


def test_an_interrupted_stack_resumes_to_the_same_numbers(bench: StackBench) -> None:
    runs = bench.run(MASKS), bench.run(DEPTH)
    whole = bench.stack(*runs, output="whole")

    with pytest.raises(KeyboardInterrupt):
        run_stack(bench.plan(*runs), bench.host, QUIET, Stop(after=4))
    rest = Stop()
    resumed = run_stack(bench.plan(*runs), bench.host, QUIET, rest)

    assert (rest.begun, rest.samples) == ((8, 4), 4)
    assert facts(resumed.report) == facts(whole.report)


def test_a_finished_stack_measures_nothing_again(bench: StackBench) -> None:
    runs = bench.run(MASKS), bench.run(DEPTH)
    bench.stack(*runs)
    again = Stop()
    run_stack(bench.plan(*runs), bench.host, QUIET, again)
    assert again.begun is None


def test_fresh_measures_everything_again(bench: StackBench) -> None:
    runs = bench.run(MASKS), bench.run(DEPTH)
    bench.stack(*runs)
    again = Stop()
    run_stack(bench.plan(*runs), bench.host, Request(fresh=True, reporters=()), again)
    assert again.samples == 8


def test_shards_put_together_are_the_whole(bench: StackBench) -> None:
    runs = bench.run(MASKS), bench.run(DEPTH)
    whole = bench.stack(*runs, output="whole")

    half = bench.stack(*runs, request=FIRST)
    assert half.report.status.partial == ("shard 1 of 2", "2 of 4 sequences are finished")
    assert half.exit_code is ExitCode.OK
    both = bench.stack(*runs, request=SECOND)

    assert facts(both.report) == facts(whole.report)


def test_a_shard_without_a_sequence_is_done_at_once(bench: StackBench) -> None:
    runs = bench.run(MASKS), bench.run(DEPTH)
    outcome = bench.stack(*runs, request=Request(shard=(5, 9), reporters=()))
    assert outcome.report.status.partial == ("shard 5 of 9", "0 of 4 sequences are finished")
    assert outcome.report.number(SGC).reason == "there is no evidence"


def test_a_stack_of_runs_in_progress_is_partial_and_a_later_one_is_not(bench: StackBench) -> None:
    masks, depth = bench.run(MASKS), bench.run(DEPTH, FIRST)
    early = bench.stack(masks, depth)
    assert early.report.status.partial == ("the monocular_depth run has finished 2 of 4 sequences",)
    assert not early.report.status.complete
    assert (early.report.number(SGC).n, early.report.number(SGC).undefined) == (4, 4)

    bench.run(DEPTH, SECOND)
    late = bench.stack(masks, depth)
    assert late.report.status.complete
    assert late.directory != early.directory
    assert late.report.number(SGC).n == 8


def test_a_missing_prediction_is_a_failed_sample_until_it_is_there(bench: StackBench) -> None:
    masks, depth = bench.run(MASKS), bench.run(DEPTH)
    file = depth / "predictions" / "scene0_clean_0.npy"
    content = file.read_bytes()
    file.unlink()

    broken = bench.stack(masks, depth)
    (failed,) = broken.report.failures
    assert broken.exit_code is ExitCode.INCOMPLETE
    assert (failed.id, failed.failure.stage) == ("scene0_clean_0", "load")
    assert failed.failure.message.startswith(
        "in the monocular_depth run: sample scene0_clean_0: no prediction file"
    )

    file.write_bytes(content)
    repaired = bench.stack(masks, depth)
    assert repaired.exit_code is ExitCode.OK
    assert repaired.directory == broken.directory
    assert repaired.report.number(SGC).n == 8


@pytest.mark.parametrize(
    ("content", "stage"),
    [(b"\x93NUMPY nonsense", "load"), (encode_npy(np.ones((2, 3), np.float32)), "measure")],
)
def test_a_damaged_prediction_fails_its_sample_alone(
    bench: StackBench, content: bytes, stage: str
) -> None:
    masks, depth = bench.run(MASKS), bench.run(DEPTH)
    (depth / "predictions" / "scene1_clutter_1.npy").write_bytes(content)
    outcome = bench.stack(masks, depth)
    assert [(one.id, one.failure.stage) for one in outcome.report.failures] == [
        ("scene1_clutter_1", stage)
    ]
    assert outcome.report.number(SGC).n == 7


def test_a_boundary_that_fails_fails_its_sample_alone(bench: StackBench) -> None:
    masks = bench.run(MASKS, options={"edge": "scene0_clean_0"})
    outcome = bench.stack(masks, bench.run(DEPTH))
    assert [one.failure.error for one in outcome.report.failures] == ["RuntimeError"]


def test_a_boundary_of_another_kind_is_told(bench: StackBench) -> None:
    outcome = bench.stack(bench.run(MASKS, options={"edge": "float"}), bench.run(DEPTH))
    assert len(outcome.report.failures) == 8
    assert "did not return a 2-D bool array" in outcome.report.failures[0].failure.message


@pytest.mark.parametrize("scope", ["sample", "sequence"])
def test_predictions_are_aligned_as_their_run_did(bench: StackBench, scope: str) -> None:
    small = {"name": "toy-echo", "options": {"scale": 0.01}}
    align = {"method": "median", "scope": scope}
    depth = bench.run(DEPTH, model=small, align=align)
    masks = bench.run(MASKS)
    # A hundredth of the depth has no jump of half a metre until it is aligned.
    assert bench.stack(masks, depth, data=bench.data()).report.number(SGC).value == 1.0


def test_an_undefined_alignment_is_undefined(bench: StackBench) -> None:
    depth = bench.run(DEPTH, align="undefined")
    outcome = bench.stack(bench.run(MASKS), depth, data=bench.data())
    assert outcome.report.number(SGC).undefined == 8
    (reason,) = {row.metrics["sgc"].reason for row in outcome.results.rows}
    assert reason == "the alignment of the monocular_depth run is undefined"


def test_aligned_runs_need_their_own_data(bench: StackBench) -> None:
    masks, depth = bench.run(MASKS), bench.run(DEPTH, align="median")
    with pytest.raises(ConfigError, match=r"monocular_depth run aligned .*\(median\)") as caught:
        bench.plan(masks, depth)
    assert "--data DATA" in (caught.value.hint or "")
    bench.write_set("again", scenes=3)
    with pytest.raises(ConfigError, match="again is not the data of the monocular_depth run"):
        bench.plan(masks, depth, data=bench.data("again"))


def captions(bench: StackBench, directory: Path, sample: str = "scene0_clean_0") -> list[str]:
    index = json.loads((directory / "previews" / sample / "pictures.json").read_bytes())
    return [picture["caption"] for picture in index]


def test_the_worst_samples_have_pictures_of_their_edges(bench: StackBench) -> None:
    masks, depth = bench.run(MASKS), bench.run(DEPTH)
    outcome = bench.stack(masks, depth, execution={"previews": 2})
    assert [len(worst.pictures) for worst in outcome.report.worst] == [1, 1, 0, 0, 0, 0]
    ((caption, path),) = outcome.report.worst[0].pictures
    assert caption.startswith("edges: white agree")
    content = (outcome.directory / path).read_bytes()
    assert decode_rgb(content, name=path).shape == (*SHAPE, 3)


def test_images_come_from_the_data_whenever_it_is_named(bench: StackBench) -> None:
    masks, depth = bench.run(MASKS), bench.run(DEPTH)
    without = bench.stack(masks, depth, execution={"previews": 6})
    assert len(captions(bench, without.directory)) == 1
    with_data = bench.stack(masks, depth, data=bench.data())
    assert with_data.directory == without.directory
    assert captions(bench, with_data.directory)[0] == "rgb"
    assert len(with_data.report.worst[0].pictures) == 2
    later = bench.stack(masks, depth, execution={"previews": 6})
    assert len(later.report.worst[0].pictures) == 2


def test_an_image_that_has_changed_is_not_shown(bench: StackBench) -> None:
    masks, depth = bench.run(MASKS), bench.run(DEPTH)
    for image in (bench.folder / "set" / "rgb").glob("*.png"):
        image.write_bytes(encode_png(np.zeros((*SHAPE, 3), np.uint8)))
    outcome = bench.stack(masks, depth, data=bench.data())
    assert len(captions(bench, outcome.directory)) == 1


def test_a_metric_without_pictures_has_none(bench: StackBench) -> None:
    outcome = bench.stack(bench.run(MASKS), bench.run(DEPTH), metrics={"sum": "toy-sum"})
    assert not any(worst.pictures for worst in outcome.report.worst)
    assert not (outcome.directory / "previews").exists()


def test_a_stack_is_rendered_again_like_any_run(bench: StackBench) -> None:
    masks, depth = bench.run(MASKS), bench.run(DEPTH, data=bench.data(limit=3))
    outcome = bench.stack(masks, depth, request=Request())
    record = read_record(outcome.directory)
    again = collect(outcome.directory, record, stored_metrics(record, bench.host))
    assert again.report == outcome.report
    written = {path.name for path in outcome.written}
    assert written == {"result.json", "summary.md", "report.html", "per_stack.csv", "cells.csv"}
    table = (outcome.directory / "report" / "per_stack.csv").read_text().splitlines()
    assert len(table) == 9
    assert "sgc.sgc" in table[0]


def test_everything_derived_can_be_deleted(bench: StackBench) -> None:
    runs = bench.run(MASKS), bench.run(DEPTH)
    before = bench.stack(*runs, request=Request(), execution={"previews": 6})
    for name in ("report", "previews"):
        shutil.rmtree(before.directory / name)
    after = bench.stack(*runs, request=Request(), execution={"previews": 6})
    assert after.report == before.report
