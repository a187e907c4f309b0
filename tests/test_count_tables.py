"""Confusion matrices and other tables of counts, from metrics to every report."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from rpx_core.contracts import CountTable
from rpx_core.report import Counts, Report, Results
from rpx_core.reporters.counts import count_pages
from rpx_core.reporters.html import render as render_html
from rpx_core.reporters.markdown import render as render_markdown
from rpx_core.reporters.result_json import render as render_json
from rpx_core.reporters.tables import render_csv
from tests.report_fixtures import HOSTILE, build_results
from tests.test_aggregate import MeanState, PixelMean, aggregate, pixels

TABLE = Counts(
    caption="Confusion of classes",
    row_axis="true class",
    column_axis="predicted class",
    rows=("cup", "bowl"),
    columns=("cup", "bowl"),
    counts=((30, 10), (1, 19)),
)


def with_table(table: Counts = TABLE) -> Results:
    results = build_results(frames=2, lost=0)
    first, *rest = results.report.numbers
    numbers = (first.model_copy(update={"table": table}), *rest)
    return replace(results, report=results.report.model_copy(update={"numbers": numbers}))


class Counting(PixelMean):
    """A mean with the pixels behind it."""

    def tables(self, state: MeanState) -> dict[str, CountTable]:
        counts = np.array([[int(state.pixels)]])
        return {"mean": CountTable("Pixels", "all", "all", ["all"], ["all"], counts)}


class Clumsy(PixelMean):
    def tables(self, state: MeanState) -> Any:
        raise RuntimeError("no table")


def test_the_table_of_a_run_belongs_to_the_pooled_number(tmp_path: Any) -> None:
    found = aggregate(tmp_path, Counting(), [("a", pixels(1, 1.0)), ("b", pixels(2, 1.0))])
    assert found["pooled"].table is not None
    assert found["pooled"].table.counts == ((3,),)
    assert found["sample"].table is None


def test_a_table_that_cannot_be_made_leaves_the_number(tmp_path: Any) -> None:
    found = aggregate(tmp_path, Clumsy(), [("a", pixels(1, 1.0))])
    assert (found["pooled"].value, found["pooled"].table) == (1.0, None)


def test_the_json_report_holds_every_count() -> None:
    document = json.loads(render_json(with_table())["result.json"])
    assert document["numbers"][0]["table"]["counts"] == [[30, 10], [1, 19]]
    assert Report.model_validate(document).numbers[0].table == TABLE


def test_the_markdown_report_shows_the_table() -> None:
    text = render_markdown(with_table())["summary.md"].decode()
    assert "### Confusion of classes" in text
    assert "| `cup` | 30 | 10 |" in text


def test_the_csv_report_has_a_file_of_each_table() -> None:
    number = with_table().report.numbers[0]
    content = render_csv(with_table())[f"{number.label}.{number.output}.counts.csv"].decode()
    assert content.splitlines() == [
        "true class / predicted class,cup,bowl",
        "cup,30,10",
        "bowl,1,19",
    ]


def test_the_page_shades_each_count_by_its_share_of_the_row() -> None:
    page = render_html(with_table())["report.html"].decode()
    assert '--mix:75.0%" title="75.0 % of the row">30</td>' in page
    assert "Rows: true class. Columns: predicted class." in page


def test_hostile_names_are_escaped() -> None:
    names = (HOSTILE, "b")
    table = TABLE.model_copy(update={"rows": names, "columns": names, "caption": HOSTILE})
    page = render_html(with_table(table))["report.html"].decode()
    assert "<script>alert" not in page
    assert "<script>alert" not in render_markdown(with_table(table))["summary.md"].decode()


def test_a_page_shows_the_fullest_rows_and_columns() -> None:
    names = tuple(map(str, range(50)))
    counts = tuple(tuple(int(r == c) * r for c in range(50)) for r in range(50))
    table = TABLE.model_copy(update={"rows": names, "columns": names, "counts": counts})
    (page,) = count_pages(with_table(table).report)
    assert [name for name, _ in page.rows] == list(names[10:])
    assert page.is_cut
