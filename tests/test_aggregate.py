"""Aggregates against numbers worked out by hand, with every way a value can be missing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.aggregate import Aggregator
from rpx_core.contracts import Output, ResultMap, Undefined, Unit
from rpx_core.errors import ConfigError
from rpx_core.journal import Journal
from rpx_core.journal_writer import JournalWriter
from rpx_core.measure import Evidence as Measuring
from rpx_core.measure import LabelledMetric
from rpx_core.report import Failure, Number, Row, Writer
from rpx_core.run import Request
from rpx_core.state import Cat, Sum
from tests.toys.bench import Bench

MISSING = None
FAILED = "failed"


@dataclass(frozen=True)
class MeanState:
    pixels: Sum
    total: Sum


class PixelMean:
    """A mean over pixels: pooled differs from the mean over samples."""

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = MeanState
    outputs: Mapping[str, Output] = {"mean": Output(better="lower", best=0.0)}

    def result(self, state: MeanState) -> dict[str, float | None]:
        return {"mean": float(state.total / state.pixels)}


@dataclass(frozen=True)
class ValueState:
    values: Cat


class Best(PixelMean):
    """The mean of what it is given, infinite where that is: unboundedly good."""

    State: ClassVar[type] = ValueState
    outputs: Mapping[str, Output] = {"gain": Output(better="higher", best=math.inf)}

    def result(self, state: Any) -> dict[str, float | None]:
        return {"gain": float(np.mean(state.values))}


class Guarded(PixelMean):
    """A mean that says for itself why it is undefined, at different lengths."""

    def result(self, state: MeanState) -> ResultMap:
        if state.pixels < 10:
            return {"mean": Undefined("fewer than 10 pixels" if state.pixels else "no pixel")}
        return {"mean": float(state.total / state.pixels)}


class Cost(Best):
    outputs: Mapping[str, Output] = {"cost": Output(better="lower", best=-math.inf)}

    def result(self, state: Any) -> dict[str, float | None]:
        return {"cost": float(np.mean(state.values))}


Evidence = Sequence[tuple[str, Any]]
"""Scene and state of each sample; None is undefined, FAILED a failed sample."""


def pixels(count: int, total: float) -> MeanState:
    return MeanState(pixels=count, total=total)


def some(*values: float) -> ValueState:
    return ValueState(np.array(values, dtype=np.float64))


def rows_of(metric: Any, evidence: Evidence) -> Iterator[tuple[Row, dict[str, bytes]]]:
    for number, (scene, state) in enumerate(evidence):
        row = Row(unit=Unit.SAMPLE, id=f"s{number}", sequence=f"s{number}", scene=scene)
        if state == FAILED:
            failure = Failure(stage="predict", error="E", message="m")
            yield row.model_copy(update={"failure": failure}), {}
            continue
        measuring = Measuring()
        measuring.take(LabelledMetric("m", metric), lambda state=state: state)
        yield row.model_copy(update={"metrics": measuring.measured}), measuring.states


def aggregate(folder: Path, metric: Any, evidence: Evidence) -> dict[str, Number]:
    """Numbers by aggregate."""
    writer = Writer(run="r", writer="w", started="", host="", device="", versions={})
    target = JournalWriter(folder / "journal", writer)
    for row, states in rows_of(metric, evidence):
        target.commit(row.sequence, [row], [states])
    target.close()
    with Journal(folder / "journal", "r") as journal:
        numbers = Aggregator(journal, journal.rows(), {"m": metric}).numbers()
    return {number.aggregate: number for number in numbers}


def counts(number: Number) -> tuple[int, int, int, int]:
    return (number.n, number.undefined, number.failed, number.infinite)


def request_by(*keys: str) -> Request:
    return Request(by=keys, reporters=())


def test_the_four_aggregates_by_hand(tmp_path: Path) -> None:
    # Samples: 1/1, 6/2, 20/10, 5/1 -> 1, 3, 2, 5; scenes a: 7/3, b: 25/11.
    evidence = [
        ("a", pixels(1, 1.0)),
        ("a", pixels(2, 6.0)),
        ("b", pixels(10, 20.0)),
        ("b", pixels(1, 5.0)),
    ]
    found = aggregate(tmp_path, PixelMean(), evidence)
    assert found["sample"].value == 11 / 4
    assert found["sample_median"].value == 2.5
    assert found["pooled"].value == 32 / 14
    assert found["group"].value == pytest.approx((7 / 3 + 25 / 11) / 2, rel=1e-15)
    assert [counts(found[name]) for name in ("sample", "sample_median", "pooled", "group")] == [
        (4, 0, 0, 0),
        (4, 0, 0, 0),
        (4, 0, 0, 0),
        (2, 0, 0, 0),
    ]


def test_undefined_values_are_left_out_and_counted(tmp_path: Path) -> None:
    # RW-104: 0.1, undefined, 0.3 -> 0.2 of two.
    evidence = [("a", pixels(1, 0.1)), ("a", MISSING), ("b", pixels(1, 0.3))]
    found = aggregate(tmp_path, PixelMean(), evidence)
    assert found["sample"].value == pytest.approx(0.2, abs=1e-6)
    assert counts(found["sample"]) == (2, 1, 0, 0)
    assert counts(found["pooled"]) == (2, 1, 0, 0)
    assert counts(found["group"]) == (2, 0, 0, 0)


class Shares(PixelMean):
    """Undefined for a sample without pixels, though its state counts."""

    def result(self, state: MeanState) -> dict[str, float | None]:
        return {"mean": float(state.total / state.pixels) if state.pixels else None}


def test_a_pooled_value_counts_the_samples_that_it_rests_on(tmp_path: Path) -> None:
    evidence = [("a", pixels(1, 1.0)), ("a", pixels(0, 0.0)), ("b", pixels(1, 3.0))]
    found = aggregate(tmp_path, Shares(), evidence)
    assert found["pooled"].value == 2.0
    assert counts(found["pooled"]) == (2, 1, 0, 0)


class Ranked(Shares):
    """A number that only the whole has: a sample without value of its own still counts."""

    outputs: Mapping[str, Output] = {
        "mean": Output(better="higher", headline="pooled", aggregates=("pooled", "group"))
    }


def test_of_a_number_that_only_the_whole_has_every_sample_counts(tmp_path: Path) -> None:
    evidence = [("a", pixels(1, 1.0)), ("a", pixels(0, 0.0))]
    assert counts(aggregate(tmp_path, Ranked(), evidence)["pooled"]) == (2, 0, 0, 0)


def test_failed_samples_enter_no_value_and_every_count(tmp_path: Path) -> None:
    evidence = [("a", pixels(1, 1.0)), ("a", FAILED), ("b", FAILED), ("b", MISSING)]
    found = aggregate(tmp_path, PixelMean(), evidence)
    assert {number.value for number in found.values()} == {1.0}
    assert counts(found["sample"]) == (1, 1, 2, 0)
    assert counts(found["pooled"]) == (1, 1, 2, 0)
    assert counts(found["group"]) == (1, 1, 2, 0)


def test_an_infinitely_good_sample_does_not_swallow_the_mean(tmp_path: Path) -> None:
    # RW-105: 1, 3 and infinity: mean of the finite ones 2, median 3, one infinite.
    evidence = [("a", some(1.0)), ("a", some(3.0)), ("a", some(math.inf))]
    found = aggregate(tmp_path, Best(), evidence)
    assert (found["sample"].value, counts(found["sample"])) == (2.0, (2, 0, 0, 1))
    assert (found["sample_median"].value, counts(found["sample_median"])) == (3.0, (3, 0, 0, 1))
    assert (found["pooled"].value, found["pooled"].reason) == (None, "infinite")


def test_values_that_are_all_infinitely_good_are_null_with_that_reason(tmp_path: Path) -> None:
    found = aggregate(tmp_path, Best(), [("a", some(math.inf)), ("b", some(math.inf))])
    assert {(number.value, number.reason) for number in found.values()} == {(None, "infinite")}


def test_a_best_of_minus_infinity_lies_below_all_values(tmp_path: Path) -> None:
    evidence = [("a", some(1.0)), ("a", some(3.0)), ("a", some(-math.inf))]
    assert aggregate(tmp_path, Cost(), evidence)["sample_median"].value == 1.0


def test_a_median_between_a_value_and_infinity_is_infinite(tmp_path: Path) -> None:
    found = aggregate(tmp_path, Best(), [("a", some(1.0)), ("a", some(math.inf))])
    assert (found["sample_median"].value, found["sample_median"].reason) == (None, "infinite")


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        ([("a", MISSING), ("b", MISSING)], "undefined for all 2"),
        ([("a", FAILED)], "all 1 failed"),
        ([("a", FAILED), ("a", MISSING)], "undefined for 1 and failed for 1: none is left"),
        ([], "there is no evidence"),
    ],
)
def test_a_number_that_is_missing_says_why(tmp_path: Path, evidence: Evidence, reason: str) -> None:
    found = aggregate(tmp_path, PixelMean(), evidence)
    for name in ("sample", "sample_median", "pooled"):
        assert (found[name].value, found[name].reason) == (None, reason)
    assert found["group"].value is None
    assert found["group"].reason


def test_the_most_frequent_reason_of_single_outputs_is_told(tmp_path: Path) -> None:
    evidence = [("a", pixels(0, 0.0)), ("a", pixels(3, 1.0)), ("b", pixels(4, 1.0))]
    found = aggregate(tmp_path, Guarded(), evidence)
    for name, n in (("sample", 3), ("sample_median", 3), ("group", 2)):
        assert found[name].value is None
        assert found[name].reason == f"undefined for all {n}: fewer than 10 pixels"
    assert found["pooled"].reason == "fewer than 10 pixels"
    assert counts(found["pooled"]) == (0, 3, 0, 0)


def test_an_output_may_be_undefined_in_samples_and_defined_pooled(tmp_path: Path) -> None:
    found = aggregate(tmp_path, Guarded(), [("a", pixels(6, 3.0)), ("b", pixels(6, 9.0))])
    assert (found["sample"].value, found["pooled"].value) == (None, 1.0)


def test_a_row_keeps_the_reason_of_each_output_through_json(tmp_path: Path) -> None:
    ((row, _),) = rows_of(Guarded(), [("a", pixels(3, 1.0))])
    stored = Row.model_validate_json(row.model_dump_json()).metrics["m"]
    assert (stored.values, stored.reasons) == ({"mean": None}, {"mean": "fewer than 10 pixels"})
    older = row.model_dump(mode="json")
    del older["metrics"]["m"]["reasons"]
    assert Row.model_validate(older).metrics["m"].why_undefined("mean") is None


def test_without_scenes_there_is_no_mean_over_scenes(tmp_path: Path) -> None:
    evidence: Any = [(None, pixels(1, 1.0)), (None, pixels(1, 2.0))]
    found = aggregate(tmp_path, PixelMean(), evidence)
    assert (found["group"].value, found["group"].reason) == (None, "the samples name no scene")


def test_numbers_near_the_end_of_the_floats_still_have_a_mean(tmp_path: Path) -> None:
    found = aggregate(tmp_path, Best(), [("a", some(1.5e308)), ("b", some(1.7e308))])
    assert found["sample"].value == pytest.approx(1.6e308)


def test_a_sum_that_overflows_costs_its_number_not_the_report(bench: Bench) -> None:
    options = {"huge": ["scene0_clutter_0", "scene0_clutter_2"]}
    outcome = bench.run(
        metrics={"trace": "toy-trace", "stability": "toy-stability"},
        model={"name": "toy-noise", "options": options},
    )
    number = outcome.report.number("stability.ts@pooled")
    assert number.value is None
    assert number.reason is not None
    assert "beyond the largest float" in number.reason


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8), st.randoms())
def test_averages_do_not_depend_on_which_sample_had_which_value(
    tmp_path_factory: pytest.TempPathFactory, values: list[float], random: Any
) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    one, other = (
        aggregate(
            tmp_path_factory.mktemp("order"), PixelMean(), [("a", pixels(1, v)) for v in some]
        )
        for some in (values, shuffled)
    )
    assert one == other


def test_every_output_is_in_every_slice(bench: Bench) -> None:
    outcome = bench.run(request_by("phase"))
    parts = outcome.report.slices
    assert [part.value for part in parts] == ["clean", "clutter", "interaction"]
    assert [part.samples for part in parts] == [15, 15, 15]
    headlines = [number.address for number in outcome.report.numbers if number.headline]
    for part in parts:
        assert [number.address for number in part.numbers] == headlines


def sliced(outcome: Any, address: str) -> dict[str, float | None]:
    return {
        part.value: number.value
        for part in outcome.report.slices
        for number in part.numbers
        if number.address == address
    }


def test_slices_are_the_numbers_of_their_samples_alone(bench: Bench) -> None:
    document = json.loads((bench.folder / "set.json").read_text())
    samples = document["samples"]
    outcome = bench.run(request_by("scene"))
    for scene in ("scene0", "scene1", "scene2"):
        bench.write_set([sample for sample in samples if sample["scene"] == scene])
        alone = bench.run(runs=scene).report
        for address in ("error.abs@sample", "error.rms@pooled", "stability.ts@sample"):
            assert sliced(outcome, address)[scene] == alone.number(address).value


def test_slices_by_metadata_have_numbers_in_order(bench: Bench) -> None:
    samples = [
        {"id": f"s{number}", "level": 1.0, "metadata": {"range": number, "note": [1]}}
        for number in (10, 9, 2)
    ]
    bench.write_set([*samples, {"id": "s1", "level": 1.0}])
    for key in ("range", "metadata.range"):
        outcome = bench.run(request_by(key))
        assert [part.value for part in outcome.report.slices] == ["(none)", "2", "9", "10"]


def test_an_unknown_key_lists_what_there_is(bench: Bench) -> None:
    with pytest.raises(ConfigError, match="--by sight: no sample has it") as caught:
        bench.run(request_by("sight"))
    assert caught.value.hint == "one of phase, difficulty, scene, sequence, site"


def test_cells_are_the_headlines_of_their_place(bench: Bench) -> None:
    samples = [
        {"id": "a", "scene": "x", "phase": 0, "difficulty": "easy", "level": 1.0},
        {"id": "b", "scene": "x", "phase": 0, "difficulty": "easy", "level": 2.0},
        {"id": "c", "scene": "y", "phase": 2, "difficulty": "hard", "level": 3.0},
        {"id": "d", "level": 4.0},
    ]
    bench.write_set(samples)
    outcome = bench.run(metrics={"error": "toy-error"})
    found = {
        (cell.phase, cell.difficulty, cell.scene): cell.n
        for cell in outcome.results.cells
        if cell.output == "abs"
    }
    assert found == {
        (None, None, None): 1,
        ("clutter", "easy", "x"): 2,
        ("clean", "hard", "y"): 1,
    }


def test_pairs_with_made_up_ids_that_are_equal_keep_their_own_states(bench: Bench) -> None:
    # "a..b" + "c" and "a" + "b..c" are both the pair "a..b..c".
    samples = [
        {"id": name, "scene": scene, "phase": 0, "frame": frame, "level": level}
        for scene, frame, name, level in (
            ("x", 0, "a..b", 1.0),
            ("x", 1, "c", 5.0),
            ("y", 0, "a", 2.0),
            ("y", 1, "b..c", 9.0),
        )
    ]
    bench.write_set(samples)
    outcome = bench.run(request_by("scene"), metrics={"stability": "toy-stability"})
    by_rows = {
        row.scene: row.metrics["stability"].values["ts"]
        for row in outcome.results.rows
        if row.unit == "pair"
    }
    assert len(by_rows) == 2
    cells = {cell.scene: cell.value for cell in outcome.results.cells if cell.label == "stability"}
    pooled = outcome.report.number("stability.ts@pooled")
    assert cells == by_rows
    assert pooled.n == 2


def test_a_report_is_strict_json(bench: Bench) -> None:
    # RW-106: no NaN, no Infinity, and a reason beside every null.
    outcome = bench.run(metrics={"gain": "toy-quality", "none": "toy-undefined"})

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    text = outcome.report.model_dump_json(by_alias=True)
    report = json.loads(text, parse_constant=refuse)
    for number in report["numbers"]:
        assert (number["value"] is None) == bool(number["reason"])
