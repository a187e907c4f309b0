"""Runs beside each other: which may stand there, which no other beats, and how that is drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.comparable import find_differences
from rpx_core.report import Report, RunRecord
from rpx_core.reporters import html, markdown
from rpx_core.reporters.beside import line_up
from rpx_core.reporters.efficiency import list_facts
from rpx_core.reporters.formatting import format_scaled
from rpx_core.reporters.headline import primary_number
from rpx_core.reporters.labels import place_labels
from rpx_core.reporters.pareto import Entry, ParetoChart, draw_charts, find_front

from .report_fixtures import HOSTILE, build_results, poison
from .report_page import read_page
from .report_profiles import MODELS, build_rivals, make_profile

if TYPE_CHECKING:
    from playwright.sync_api import Page as BrowserPage

REPORT = build_results(frames=2).report
levels = st.integers(0, 6).map(float)


def make_entries(pairs: list[tuple[float, float]]) -> list[Entry]:
    return [Entry(REPORT, place, *pair) for place, pair in enumerate(pairs)]


def charts_of(report: Report, *others: Report) -> dict[str, ParetoChart]:
    return {chart.title: chart for chart in draw_charts(report, others)}


def changed(report: Report, **fields: Any) -> Report:
    """The report of another run, by the first letter of whose identity it is known."""
    identity = f"f{report.run.identity[1:]}"
    record = report.run.model_copy(update={"identity": identity})
    return report.model_copy(update={"run": record, **fields})


@given(st.lists(st.tuples(levels, levels), min_size=1, max_size=12), st.booleans())
def test_the_front_is_what_no_other_beats(
    pairs: list[tuple[float, float]], lower_is_better: bool
) -> None:
    entries = make_entries(pairs)
    front = find_front(entries, lower_is_better=lower_is_better)
    sign = -1 if lower_is_better else 1

    def covers(one: Entry, two: Entry) -> bool:
        return sign * one.quality >= sign * two.quality and one.cost <= two.cost

    def equal(one: Entry, two: Entry) -> bool:
        return (one.quality, one.cost) == (two.quality, two.cost)

    assert front
    assert all(any(covers(best, entry) for best in front) for entry in entries)
    assert all(equal(a, b) or not covers(a, b) for a in front for b in front)


def test_of_the_made_up_models_three_are_beaten() -> None:
    results = build_rivals()
    for chart in draw_charts(results.report, results.others):
        beaten = {point.name for point in chart.points if not point.is_best}
        assert beaten == {"depth-pro", "zoedepth-nyu", "unidepth-v2-vitl"}
        assert chart.is_log
        assert chart.missing == ()


@pytest.mark.parametrize(
    ("better", "first"), [("lower", "depth-anything-v2-large"), ("higher", "fast-depth")]
)
def test_up_is_better_whichever_direction_that_is(better: str, first: str) -> None:
    results = build_rivals()

    def turned(report: Report) -> Report:
        numbers = tuple(n.model_copy(update={"better": better}) for n in report.numbers)
        return report.model_copy(update={"numbers": numbers})

    mine, others = turned(results.report), [turned(other) for other in results.others]
    for chart in draw_charts(mine, others):
        assert min(chart.points, key=lambda point: point.top).name == first
        assert min(chart.points, key=lambda point: point.left).name == "fast-depth"
        labels = [float(tick.label) for tick in chart.quality_ticks]
        tops = [tick.position for tick in chart.quality_ticks]
        assert sorted(labels) == labels
        assert sorted(tops, reverse=better == "higher") == tops


@given(st.lists(st.tuples(st.floats(1e-6, 1e9), st.floats(0, 1e15)), min_size=2, max_size=11))
def test_everything_is_drawn_inside_the_chart(pairs: list[tuple[float, float]]) -> None:
    number = primary_number(REPORT)
    assert number is not None
    reports = []
    for place, (milliseconds, quality) in enumerate(pairs):
        identity = f"{place:08x}"
        value = number.model_copy(update={"value": quality})
        profile = make_profile(identity, milliseconds=milliseconds)
        record = REPORT.run.model_copy(update={"identity": identity})
        fields = {"run": record, "numbers": (value,), "efficiency": profile}
        reports.append(REPORT.model_copy(update=fields))
    chart = charts_of(reports[0], *reports[1:])["Latency"]
    assert len(chart.points) == len(pairs)
    marks = [*chart.cost_ticks, *chart.quality_ticks]
    places = [mark.position for mark in marks] + [p.left for p in chart.points]
    places += [p.top for p in chart.points]
    places += [float(number) for number in re.findall(r"[\d.e+-]+", chart.front)]
    assert all(0 <= place <= 100 for place in places)
    assert all(-15 <= at <= 115 for point in chart.points for at in point.label)


def test_a_latency_of_another_machine_is_not_drawn() -> None:
    results = build_rivals(build_results(frames=2))
    profile = results.others[0].efficiency
    assert profile is not None
    orin = profile.hardware.model_copy(update={"accelerator": "Orin (nvgpu)"})
    elsewhere = profile.model_copy(update={"hardware": orin})
    batched = profile.model_copy(update={"batch_size": 8})
    others = [
        results.others[1],
        results.others[2].model_copy(update={"efficiency": elsewhere}),
        results.others[3].model_copy(update={"efficiency": batched}),
    ]
    charts = charts_of(results.report, *others)
    assert [point.name for point in charts["Latency"].points] == [
        "depth-anything-v2-small",
        "fast-depth",
    ]
    assert [reason.split(" was ")[1] for reason in charts["Latency"].missing] == [
        "measured on another machine or batch size"
    ] * 2
    assert len(charts["FLOPs"].points) == 4


def test_what_is_not_drawn_is_said_with_its_reason() -> None:
    results = build_rivals(build_results(frames=2))
    first, second, third = results.others[:3]
    nameless = make_profile(third.run.identity, flops=None, parameters=None)
    others = [
        first,
        changed(second, efficiency=None),
        third.model_copy(update={"efficiency": nameless}),
        results.others[3].model_copy(update={"numbers": ()}),
    ]
    charts = charts_of(results.report, *others)
    assert charts["FLOPs"].missing == (
        "fast-depth (f0000001) was not profiled",
        "depth-anything-v2-base (00000002), the model does not use torch",
        "depth-anything-v2-large (00000003) has no depth.absrel",
    )


def test_one_profiled_run_makes_no_chart() -> None:
    results = build_rivals(build_results(frames=2))
    assert charts_of(results.report, changed(results.others[0], efficiency=None)) == {}


def gaps_of(report: Report, *others: Report) -> tuple[str, ...]:
    return line_up(report, others).gaps


def test_costs_that_fewer_than_two_runs_have_are_told_with_what_each_lacks() -> None:
    results = build_rivals(build_results(frames=2))
    bare = changed(results.others[0], efficiency=None)
    gap = (
        "No chart of Latency, Parameters, FLOPs, which takes two runs: "
        "midas-small (f0000000) was not profiled."
    )
    assert gaps_of(results.report, bare) == (gap,)
    assert gaps_of(bare, results.report) == (gap,)
    text = markdown.render(replace(results, others=[bare]))["summary.md"].decode()
    assert "- No chart of Latency, Parameters, FLOPs, which takes two runs: midas" in text
    page = read_page(html.render(replace(results, others=[bare]))["report.html"])
    assert gap in page.text_outside("script")


def test_each_cost_has_its_own_reason() -> None:
    results = build_rivals(build_results(frames=2))
    first = results.others[0]
    nameless = first.model_copy(
        update={"efficiency": make_profile(first.run.identity, flops=None, batch_size=8)}
    )
    assert gaps_of(results.report, nameless) == (
        "No chart of Latency, which takes two runs: midas-small (00000000) was measured on "
        "another machine or batch size.",
        "No chart of FLOPs, which takes two runs: midas-small (00000000), the model does not use "
        "torch.",
    )


def test_quality_without_a_direction_is_told() -> None:
    results = build_rivals(build_results(frames=2))
    numbers = tuple(n.model_copy(update={"better": None}) for n in results.report.numbers)
    mine = results.report.model_copy(update={"numbers": numbers})
    (gap,) = gaps_of(mine, *results.others)
    assert gap.endswith("has no better end.")
    (gap,) = gaps_of(results.report.model_copy(update={"numbers": ()}), *results.others)
    assert gap.endswith("is not in this report.")


def test_nothing_is_told_where_nobody_profiled_or_everything_is_drawn() -> None:
    plain = build_results(frames=2).report
    assert gaps_of(plain, changed(plain)) == ()
    results = build_rivals()
    assert gaps_of(results.report, *results.others) == ()
    assert gaps_of(results.report) == ()


def test_latencies_of_two_machines_are_not_drawn_where_the_first_run_has_none() -> None:
    results = build_rivals(build_results(frames=2))
    orin = make_profile("f")
    orin = orin.model_copy(
        update={"hardware": orin.hardware.model_copy(update={"accelerator": "Orin (nvgpu)"})}
    )
    bare = results.report.model_copy(update={"efficiency": None})
    others = [results.others[0], changed(results.others[1], efficiency=orin)]
    assert "Latency" not in charts_of(bare, *others)
    assert "FLOPs" in charts_of(bare, *others)


def test_quality_without_a_direction_makes_no_chart() -> None:
    results = build_rivals(build_results(frames=2))
    numbers = tuple(n.model_copy(update={"better": None}) for n in results.report.numbers)
    assert charts_of(results.report.model_copy(update={"numbers": numbers}), *results.others) == {}


def test_costs_within_one_decade_are_on_a_linear_axis() -> None:
    results = build_rivals(build_results(frames=2))
    near = changed(results.report, efficiency=make_profile("f", milliseconds=30))
    chart = charts_of(results.report, near)["Latency"]
    assert not chart.is_log
    assert all(float(tick.label) >= 0 for tick in chart.cost_ticks)
    assert len(chart.cost_ticks) >= 2


@pytest.mark.parametrize("count", [2, 5, 11])
def test_labels_of_a_crowd_do_not_cover_each_other(count: int) -> None:
    points = [(40 + 3.1 * place, 50 - 2.7 * place) for place in range(count)]
    labels = place_labels(points)
    pairs = [(a, b) for at, a in enumerate(labels) for b in labels[at + 1 :]]
    assert all(abs(a[0] - b[0]) >= 6.4 or abs(a[1] - b[1]) >= 5.9 for a, b in pairs)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5000"),
        (593, "593"),
        (999.96, "1000"),
        (1000, "1 k"),
        (24_800_000, "24.80 M"),
        (4.37e12, "4.370 T"),
        (5e19, "50000 P"),
        (0, "0"),
    ],
)
def test_amounts_have_the_prefix_that_fits(value: float, text: str) -> None:
    assert format_scaled(value, "") == text


def test_bytes_keep_their_unit_without_a_prefix() -> None:
    assert format_scaled(12, "B") == "12 B"


def test_a_model_without_torch_has_one_line_for_all_counts() -> None:
    facts = list_facts(make_profile("a", parameters=None, flops=None))
    assert (facts[0].name, facts[0].text) == ("Parameters, FLOPs, activations", "n/a")
    assert facts[0].note == "the model does not use torch"
    assert [fact.name for fact in facts].count("FLOPs") == 0


def test_the_summary_has_the_costs_and_the_table_of_runs() -> None:
    text = markdown.render(build_rivals())["summary.md"].decode()
    assert "| Latency p50 / p95 / p99 | 11 / 11.44 / 13.31 ms |" in text
    table = text.split("### Beside other runs")[1].split("###")[0]
    assert table.count("\n| `") == 1 + len(MODELS)
    pro = next(line for line in table.splitlines() if "depth-pro" in line)
    assert pro.endswith("| 340 | 952 M | 4.370 T | - |")
    mine = next(line for line in table.splitlines() if "v2-small" in line)
    assert mine.endswith("| 11 | 24.80 M | 55 G | Latency, Parameters, FLOPs |")


def test_runs_without_profiles_have_no_columns_of_costs() -> None:
    results = build_results(frames=2)
    comparison = line_up(results.report, [changed(results.report)])
    assert not comparison.has_costs
    other = replace(results, others=[changed(results.report)])
    assert "Unbeaten" not in html.render(other)["report.html"].decode()


def test_hostile_names_change_no_tag_of_the_page() -> None:
    results = build_rivals(build_results(frames=2))
    hostile, harmless = (
        read_page(html.render(poison(results, text))["report.html"])
        for text in (HOSTILE, "x" * len(HOSTILE))
    )
    assert hostile.tags == harmless.tags


def make_record(**inputs: Any) -> RunRecord:
    metric = {"name": "rpx-depth/depth", "version": "0.1.0", "options": {}, "metric": "1"}
    task = {"name": "rpx-depth/monocular_depth", "version": "0.1.0", "options": {}, "task": "1"}
    base = {
        "task": task,
        "metrics": {"depth": metric},
        "data": {"dataset_id": "sha256:1", "split": None, "limit": None},
        "align": {"method": "none", "scope": "sample"},
        "model": {"name": "a"},
        "distributions": {"rpx-core": "0.1.0"},
    }
    return REPORT.run.model_copy(update={"inputs": {**base, **inputs}})


@pytest.mark.parametrize(
    ("inputs", "differing"),
    [
        ({"model": {"name": "b"}, "distributions": {"rpx-core": "0.2.0"}, "seed": 3}, ()),
        ({"data": {"dataset_id": "sha256:2", "split": None, "limit": None}}, ("data",)),
        ({"data": {"dataset_id": "sha256:1", "split": None, "limit": 9}}, ("data",)),
        ({"align": {"method": "median", "scope": "sample"}}, ("alignment",)),
        ({"metrics": {"depth": {"name": "rpx-depth/depth", "metric": "2"}}}, ("metrics",)),
        ({"task": {"name": "rpx-depth/monocular_depth", "options": {"cap": 10}}}, ("task",)),
    ],
)
def test_runs_are_comparable_unless_something_but_the_model_differs(
    inputs: dict[str, Any], differing: tuple[str, ...]
) -> None:
    assert find_differences(make_record(), make_record(**inputs)) == differing


def test_a_new_release_with_the_same_metric_version_stays_comparable() -> None:
    metric = {"name": "rpx-depth/depth", "version": "0.2.0", "options": {}, "metric": "1"}
    assert find_differences(make_record(), make_record(metrics={"depth": metric})) == ()


def test_runs_of_another_protocol_or_primary_number_are_not_comparable() -> None:
    other = make_record().model_copy(update={"protocol": None, "primary": "depth.rmse@sample"})
    assert find_differences(make_record(), other) == ("protocol", "primary number")


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_numbers_in_the_charts_do_not_overlap_on_the_page(
    chromium_page: BrowserPage, tmp_path: Path, width: int
) -> None:
    page = tmp_path / "rivals.html"
    page.write_bytes(html.render(build_rivals())["report.html"])
    chromium_page.set_viewport_size({"width": width, "height": 900})
    chromium_page.goto(page.as_uri())
    assert chromium_page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = chromium_page.evaluate(
        "[...document.querySelectorAll('.plot')].map(plot => [...plot.querySelectorAll('.tag')]"
        ".map(tag => tag.getBoundingClientRect()).map(b => [b.left, b.right, b.top, b.bottom]))"
    )
    assert [len(plot) for plot in boxes] == [1 + len(MODELS)] * 3
    for plot in boxes:
        for at, (left, right, top, bottom) in enumerate(plot):
            for other in plot[at + 1 :]:
                apart = right <= other[0] or other[1] <= left
                assert apart or bottom <= other[2] + 2 or other[3] <= top + 2
