"""Promises that a careful reader of the engine found broken once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rpx_core.contracts import Sample, withhold
from rpx_core.errors import ConfigError, PluginError
from rpx_core.records import Record
from rpx_core.report import Results
from rpx_core.run import Request, run, write_reports
from rpx_core.scorer import Span
from tests.toys.bench import Bench


def sample() -> Sample:
    return Sample(
        id="a",
        rgb=np.zeros((2, 3, 3), np.uint8),
        ground_truth=1.0,
        metadata={"site": {"floor": 1}},
        intrinsics=np.eye(3),
        camera_pose=np.eye(4),
    )


@pytest.mark.parametrize("name", ["rgb", "intrinsics", "camera_pose"])
def test_a_model_cannot_change_the_arrays_that_metrics_see(name: str) -> None:
    whole = sample()
    with pytest.raises(ValueError, match="read-only"):
        getattr(withhold(whole), name)[0] = 9
    assert getattr(whole, name).flags.writeable


def test_a_model_cannot_change_the_metadata_that_metrics_see() -> None:
    whole = sample()
    metadata = withhold(whole).metadata
    assert metadata is not None
    metadata["site"]["floor"] = 2
    assert whole.metadata == {"site": {"floor": 1}}


def record(frame: int) -> Record:
    return Record(id=f"a_{frame}", sequence="a", frame=frame)


def test_frames_with_a_gap_between_them_are_not_adjacent() -> None:
    span = Span("a", (), step=5.0)
    assert span.are_adjacent(record(0), record(5))
    assert not span.are_adjacent(record(0), record(10))


def test_a_pair_over_missing_frames_is_undefined(bench: Bench) -> None:
    levels = {0: 1.0, 1: 2.0, 2: 4.0, 9: 5.0}
    bench.write_set(
        [
            {"id": f"a_clean_{frame}", "scene": "a", "phase": "clean", "level": level}
            for frame, level in levels.items()
        ]
    )
    number = bench.run().report.number("stability.ts@sample")
    assert (number.n, number.undefined) == (2, 1)


def test_fresh_does_not_delete_what_other_shards_have_done(bench: Bench) -> None:
    plan = bench.plan()
    with pytest.raises(ConfigError, match="other shards"):
        run(plan, bench.host, Request(shard=(1, 2), fresh=True))


@pytest.mark.parametrize(
    ("rendered", "says"),
    [
        ({"..": b""}, "no file name"),
        ({"a/b": b""}, "no file name"),
        ({"a": "text"}, "bytes were expected"),
        (7, "failed"),
    ],
)
def test_a_reporter_that_breaks_its_contract_writes_nothing(
    tmp_path: Path, rendered: object, says: str, bench: Bench
) -> None:
    results: Results = bench.run().results
    with pytest.raises(PluginError, match=says):
        write_reports(tmp_path / "report", results, {"toy": lambda results: rendered})  # type: ignore[dict-item, return-value]  # what is tested
    assert not (tmp_path / "report").exists()


def test_a_reporter_cannot_end_the_command_or_replace_the_file_of_another(
    tmp_path: Path, bench: Bench
) -> None:
    results = bench.run().results

    def leaves(results: Results) -> dict[str, bytes]:
        raise SystemExit(0)

    with pytest.raises(PluginError, match="SystemExit"):
        write_reports(tmp_path, results, {"toy": leaves})
    same = {"one": lambda results: {"x": b"1"}, "two": lambda results: {"x": b"2"}}
    with pytest.raises(PluginError, match=r"one and two both write x\n.*leave one of them out"):
        write_reports(tmp_path, results, same)
    assert not (tmp_path / "x").exists()
