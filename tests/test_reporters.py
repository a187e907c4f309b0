from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rpx_core.contracts import Unit
from rpx_core.errors import ConfigError
from rpx_core.report import Report, Results, Row
from rpx_core.reporters import html, markdown, result_json, tables
from rpx_core.reporters.formatting import (
    format_number,
    format_share,
    format_value,
    reveal,
    shorten,
)
from rpx_core.reporters.headline import where_it_ran

from .report_fixtures import HOSTILE, build_results, make_partial, poison
from .report_page import read_page

RENDERERS = (
    html.render,
    markdown.render,
    result_json.render,
    tables.render_csv,
    tables.render_parquet,
)


def refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


def read_json(results: Results) -> Any:
    return json.loads(result_json.render(results)["result.json"], parse_constant=refuse)


def read_csv(results: Results, name: str = "per_sample.csv") -> list[dict[str, str]]:
    text = tables.render_csv(results)[name].decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read_summary(results: Results) -> str:
    return markdown.render(results)["summary.md"].decode()


def read_markdown_tables(text: str) -> list[list[str]]:
    """Rows of all tables, each cell as the text that a reader sees."""
    rows: list[list[str]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            kinds = {"text", "code_inline"}
            children = token.children or []
            rows[-1].append("".join(child.content for child in children if child.type in kinds))
    return rows


@given(st.floats(min_value=-1e300, max_value=1e300))
def test_printed_numbers_are_within_half_a_unit_of_the_fourth_digit(value: float) -> None:
    assert float(format_number(value)) == pytest.approx(value, rel=5.001e-4, abs=1e-323)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (1.0, "1"),
        (0.99999, "1.000"),
        (0.0, "0"),
        (-0.0, "0"),
        (0.08478, "0.08478"),
        (123.456, "123.5"),
        (250.0, "250"),
        (0.00001234, "1.234e-05"),
        (-12345.6, "-12346"),
    ],
)
def test_numbers_print_with_four_digits_and_only_exact_ones_as_integers(
    value: float, printed: str
) -> None:
    assert format_number(value) == printed


def test_a_number_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="nan"):
        format_number(math.nan)


@pytest.mark.parametrize(
    ("share", "printed"), [(1.0, "100 %"), (0.0, "0 %"), (0.99999, "99.9 %"), (0.6, "60.0 %")]
)
def test_a_share_reads_all_or_none_only_when_it_is(share: float, printed: str) -> None:
    assert format_share(share) == printed


def test_hidden_and_direction_changing_characters_are_written_out() -> None:
    assert reveal("a\u202eb\x00\u200b") == "a\\u202eb\\u0000\\u200b"


@given(st.text(max_size=300), st.integers(min_value=10, max_value=100))
def test_shortened_text_is_one_line_within_the_limit(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert "\n" not in short


@pytest.mark.parametrize("render", RENDERERS)
def test_rendering_twice_gives_the_same_bytes(
    render: Callable[[Results], Mapping[str, bytes]],
) -> None:
    assert render(build_results(frames=4)) == render(build_results(frames=4))


@pytest.mark.parametrize("render", RENDERERS)
@pytest.mark.parametrize("frames", [0, 1])
def test_a_run_without_a_single_value_renders(
    render: Callable[[Results], Mapping[str, bytes]], frames: int
) -> None:
    assert all(render(build_results(frames=frames, lost=1000 * frames)).values())


def test_result_json_is_strict_and_reads_back_as_the_report() -> None:
    results = build_results(frames=4)
    content = result_json.render(results)["result.json"]
    assert content.endswith(b"}\n")
    assert read_json(results)["schema"] == "rpx-report-1"
    assert Report.model_validate_json(content) == results.report


def test_every_null_in_result_json_has_a_reason() -> None:
    report = read_json(build_results(frames=4))
    entries = [*report["numbers"], *report["readiness"]["grid"], *report["readiness"]["scores"]]
    nulls = [entry for entry in entries if entry["value"] is None]
    assert nulls
    assert all(entry["reason"] for entry in nulls)


def test_all_formats_show_the_same_number_for_each_output() -> None:
    results = build_results()
    printed = {
        (number["label"], number["output"]): format_value(number["value"], number["reason"])
        for number in read_json(results)["numbers"]
        if number["headline"]
    }
    summary = read_markdown_tables(read_summary(results))
    page = read_page(html.render(results)["report.html"])
    in_summary = {key: [row[2] for row in summary if row[:2] == list(key)] for key in printed}
    in_page = {key: [row[1] for row in page.rows if row[0] == ".".join(key)] for key in printed}
    assert in_summary == {key: [text] for key, text in printed.items()}
    assert {key: texts[0] for key, texts in in_page.items()} == printed


def test_the_mean_of_the_csv_column_is_the_published_number() -> None:
    results = build_results()
    values = [float(row["depth.absrel"]) for row in read_csv(results) if row["depth.absrel"]]
    number = results.report.number("depth.absrel@sample")
    assert len(values) == number.n
    assert math.fsum(values) / len(values) == pytest.approx(number.value, rel=1e-12)


@pytest.mark.parametrize("frames", [4, 20])
def test_no_reader_sees_a_null_as_a_number_or_a_python_word(frames: int) -> None:
    results = build_results(frames=frames)
    page = read_page(html.render(results)["report.html"])
    seen = f"{read_summary(results)} {page.text_outside('pre')}"
    assert not re.search(r"\b(nan|none|null|inf)\b", seen, re.IGNORECASE)
    assert "n/a (the records have no camera poses)" in seen
    assert "n/a (infinite)" in seen


def test_summary_says_up_front_that_a_run_is_partial() -> None:
    summary = read_summary(make_partial(build_results(frames=4)))
    second = summary.split("\n\n")[1]
    assert second.startswith("**Partial: 60 of 640 samples evaluated")
    assert "shard 1 of 4" in second


def test_summary_shows_intervals_where_there_are_some() -> None:
    results = with_interval(build_results(frames=4))
    rows = read_markdown_tables(read_summary(results))
    assert [row[3] for row in rows if row[1] == "absrel"] == ["0.08000 to 0.09250"]
    assert [row[3] for row in rows if row[1] == "rmse"] == ["-"]


def test_summary_shows_ten_failures_and_counts_the_others() -> None:
    summary = read_summary(build_results(frames=4, lost=25))
    failures = summary.split("### Failures (25)")[1].split("###")[0]
    assert failures.count("Error") == 10
    assert "… and 15 more." in failures


def test_summary_of_a_large_run_fits_into_a_comment() -> None:
    results = build_results(frames=30, lost=400)
    slices = results.report.slices * 500
    failures = tuple(
        failed.model_copy(
            update={"failure": failed.failure.model_copy(update={"message": "x" * 9000})}
        )
        for failed in results.report.failures
    )
    changes = {"slices": slices, "failures": failures, "warnings": ("careful " * 2000,) * 500}
    report = results.report.model_copy(update=changes)
    assert len(read_summary(replace(results, report=report))) < 65_536


def test_summary_puts_other_runs_beside_this_one() -> None:
    results = build_results(frames=4)
    other = build_results(frames=6).report
    record = other.run.model_copy(update={"model": "rival"})
    rows = read_markdown_tables(
        read_summary(replace(results, others=[other.model_copy(update={"run": record})]))
    )
    printed = format_number(other.number("depth.absrel@sample").value or 0)
    assert [row[3] for row in rows if row[0] == "rival"] == [printed]


def test_hostile_text_leaves_the_structure_of_the_summary_alone() -> None:
    results = build_results(frames=4)

    def shape(text: str) -> list[str]:
        summary = read_summary(poison(results, text))
        tokens = MarkdownIt("commonmark").enable("table").parse(summary)
        children = [child for token in tokens for child in token.children or []]
        assert not {"link_open", "image"} & {child.type for child in children}
        tags = {child.content for child in children if child.type == "html_inline"}
        assert tags <= {"<code>", "</code>", "<!-- -->"}
        return [token.type for token in tokens]

    assert shape(HOSTILE) == shape("x" * len(HOSTILE))


def test_summary_mentions_nobody() -> None:
    summary = read_summary(poison(build_results(frames=4), "@octocat #1 "))
    outside = re.sub(r"`[^`]*`|<code>.*?</code>", "", summary)
    assert "@octocat" not in outside
    assert "#1" not in outside


def test_pins_are_a_requires_table_that_toml_reads() -> None:
    summary = read_summary(build_results(frames=4))
    table = tomllib.loads(summary.split("```toml")[1].split("```")[0])
    assert table["requires"]["rpx-depth"] == "==0.1.0"


def test_csv_floats_round_trip_and_undefined_values_are_empty() -> None:
    results = build_results(frames=4)
    for row, line in zip(results.rows, read_csv(results), strict=True):
        measured = row.metrics.get("depth")
        for output in ("absrel", "rmse", "delta1", "psnr", "coverage"):
            value = measured.values[output] if measured else None
            cell = line[f"depth.{output}"]
            assert (float(cell) if cell else None) == value


def test_csv_says_why_a_value_is_empty() -> None:
    reasons = {line["depth.reason"] for line in read_csv(build_results(frames=4, lost=0))}
    assert reasons == {"psnr is infinite", "no valid pixel in the ground truth"}


def test_csv_carries_failures_tags_and_alignment() -> None:
    lines = read_csv(build_results(frames=4))
    failed = next(line for line in lines if line["failure.stage"] == "load")
    assert failed["failure.message"] == f"depth/{failed['id']}.png: not found"
    assert failed["depth.absrel"] == ""
    assert {line["tag.lighting"] for line in lines} == {"dim", "bright"}
    assert all(line["alignment.scale"] for line in lines if not line["failure.stage"])


def test_csv_keeps_the_columns_of_outputs_that_no_sample_has() -> None:
    lines = read_csv(build_results(frames=2, lost=1000))
    assert {line["depth.absrel"] for line in lines} == {""}
    assert {line["stability.ts"] for line in lines} == {""}


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_csv_text_never_starts_a_formula(start: str) -> None:
    results = poison(build_results(frames=2, lost=2), f"{start}cmd|' /C calc'!A0")
    for name, content in tables.render_csv(results).items():
        for line in csv.reader(io.StringIO(content.decode(), newline="")):
            texts = [cell for cell in line if not is_number(cell)]
            assert not [cell for cell in texts if cell.startswith(start)], name


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_pairs_and_sequences_get_their_own_files_with_their_own_columns() -> None:
    results = build_results(frames=4)
    pair = Row(
        unit=Unit.PAIR,
        id="a|b",
        sequence="a",
        metrics={"stability": {"values": {"ts": 0.25}}},  # type: ignore[dict-item]  # as stored
    )
    files = tables.render_csv(replace(results, rows=[*results.rows, pair]))
    assert set(files) == {"per_sample.csv", "per_pair.csv", "cells.csv"}
    assert b"stability.ts" not in files["per_sample.csv"].splitlines()[0]
    (line,) = csv.DictReader(io.StringIO(files["per_pair.csv"].decode()))
    assert line["stability.ts"] == "0.25"
    assert "depth.absrel" not in line


def test_cells_list_every_output_by_phase_difficulty_and_scene() -> None:
    results = build_results(frames=4)
    lines = read_csv(results, "cells.csv")
    assert len(lines) == len(results.cells)
    empty = [line for line in lines if not line["value"]]
    assert {line["reason"] for line in empty} == {"no samples"}


def test_parquet_has_the_columns_of_the_csv_typed() -> None:
    results = build_results(frames=4)
    content = tables.render_parquet(results)["per_sample.parquet"]
    table = pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    assert table.column_names == list(read_csv(results)[0])
    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert types["frame"] == types["tag.gain"] == "int64"
    assert types["depth.psnr"] == types["alignment.scale"] == "double"
    assert types["phase"] == types["failure.stage"] == types["tag.lighting"] == "string"
    values = table.column("depth.absrel").to_pylist()
    assert [repr(value) if value is not None else "" for value in values] == [
        line["depth.absrel"] for line in read_csv(results)
    ]


@pytest.mark.parametrize(
    ("tags", "kind"),
    [((True, False), "bool"), ((1, "a"), "string"), ((1, 2**80), "string"), ((0.5, 1.5), "double")],
)
def test_parquet_tag_columns_have_the_type_of_their_values(tags: Any, kind: str) -> None:
    rows = [
        Row(unit=Unit.SAMPLE, id=str(tag), sequence="a", tags={"key": tag}, frame=2**80)
        for tag in tags
    ]
    content = tables.render_parquet(replace(build_results(frames=0), rows=rows))
    schema = pyarrow.parquet.read_schema(pyarrow.BufferReader(content["per_sample.parquet"]))
    assert str(schema.field("tag.key").type) == kind


def test_a_metric_labelled_tag_does_not_hide_a_tag() -> None:
    row = Row(
        unit=Unit.SAMPLE,
        id="a",
        sequence="a",
        tags={"x": 1},
        metrics={"tag": {"values": {"x": 0.5}}},  # type: ignore[dict-item]  # as stored
    )
    (line,) = read_csv(replace(build_results(frames=0), rows=[row]))
    assert (line["tag.x"], line["tag.x (2)"]) == ("1", "0.5")


def test_parquet_without_pyarrow_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError) as caught:
        tables.render_parquet(build_results(frames=0))
    assert caught.value.hint == 'pip install "rpx-core[parquet]"'


def with_interval(results: Results) -> Results:
    numbers = tuple(
        number.model_copy(update={"interval": (0.08, 0.0925), "interval_reason": None})
        if number.address == "depth.absrel@sample"
        else number
        for number in results.report.numbers
    )
    return replace(results, report=results.report.model_copy(update={"numbers": numbers}))


def test_csv_text_does_not_steer_a_terminal() -> None:
    results = poison(build_results(frames=2, lost=2), "\x1b[31m\x9b2J\u202e")
    for content in tables.render_csv(results).values():
        text = content.decode()
        assert not {"\x1b", "\x9b", "\u202e"} & set(text)
        assert "\\u001b[31m" in text


def test_the_summary_says_on_which_devices_and_in_which_number_format_it_ran() -> None:
    results = build_results()
    (writer, other) = results.report.writers
    described = {"device": "cuda:0 (NVIDIA H200)", "dtype": "bfloat16"}
    writers = (writer.model_copy(update={"model": described}), other)
    assert where_it_ran(writers) == ("cuda:0 (NVIDIA H200), bfloat16", "cuda:0 NVIDIA RTX 4090")
    report = results.report.model_copy(update={"writers": writers})
    summary = read_summary(replace(results, report=report))
    assert "on cuda:0 (NVIDIA H200), bfloat16; cuda:0 NVIDIA RTX 4090" in summary
