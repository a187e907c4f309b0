from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from rpx_core.contracts import Difficulty, Unit
from rpx_core.report import Results, WorstSample
from rpx_core.reporters import charts, html
from rpx_core.reporters.formatting import format_number

from .report_fixtures import HOSTILE, build_results, make_partial, poison
from .report_page import read_page
from .report_profiles import build_rivals

if TYPE_CHECKING:
    from playwright.sync_api import Page as BrowserPage

STYLE = Path(html.__file__).parent / "templates" / "report.css"
finite = st.floats(allow_nan=False, allow_infinity=False)


def render(results: Results) -> bytes:
    return html.render(results)["report.html"]


def read_text(results: Results) -> str:
    return " ".join(read_page(render(results)).text_outside("pre").split())


def with_pictures(results: Results, *paths: str) -> Results:
    worst = WorstSample(
        id="a", value=1.0, values={}, pictures=tuple((f"picture {path}", path) for path in paths)
    )
    return replace(results, report=results.report.model_copy(update={"worst": (worst,)}))


def test_page_forbids_scripts_and_every_request() -> None:
    page = read_page(render(build_results(frames=4)))
    policy = next(value for _, _, value in page.attributes if value.startswith("default-src"))
    assert policy.split("; ")[:3] == [
        "default-src 'none'",
        "img-src data:",
        "style-src 'unsafe-inline'",
    ]
    assert "script" not in {tag for tag, _ in page.tags}


def test_page_refers_to_nothing_outside_itself(tmp_path: Path) -> None:
    content = render(poison(build_results(tmp_path, frames=4)))
    page = read_page(content)
    links = [value for _, name, value in page.attributes if name in {"src", "href", "srcset"}]
    assert links
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not re.search(rb"url\(|@import", content)


def test_hostile_text_changes_no_tag_and_no_attribute(tmp_path: Path) -> None:
    results = make_partial(build_results(tmp_path, frames=4))
    results = replace(results, others=[results.report])
    hostile = read_page(render(poison(results, HOSTILE)))
    harmless = read_page(render(poison(results, "x" * len(HOSTILE))))
    assert hostile.tags == harmless.tags
    assert not [name for _, name, _ in hostile.attributes if name.startswith("on")]


def test_direction_changing_characters_never_reach_the_page() -> None:
    assert "\u202e" not in render(poison(build_results(frames=4), "a\u202eb")).decode()


def test_a_very_long_name_is_cut_and_kept_as_a_title() -> None:
    results = poison(build_results(frames=2, lost=2), "y" * 10_000)
    content = render(results)
    assert b"y" * 601 not in re.sub(rb"<pre.*?</pre>", b"", content, flags=re.DOTALL)
    assert f'title="{"y" * 600}"' in content.decode()


def test_page_shows_the_primary_number_with_coverage_direction_and_n() -> None:
    results = build_results()
    number = results.report.number("depth.absrel@sample")
    text = read_text(results)
    assert f"{format_number(number.value or 0)} ↓ lower is better · mean of samples" in text
    assert f"n = {number.n}" in text
    coverage = results.report.number("depth.coverage@sample")
    assert f"Coverage depth.coverage {format_number(coverage.value or 0)}" in text
    assert "Interval: n/a (intervals are not computed by this version)" in text


def test_page_shows_an_interval_where_there_is_one() -> None:
    results = build_results(frames=4)
    numbers = tuple(
        number.model_copy(update={"interval": (0.08, 0.0925)}) for number in results.report.numbers
    )
    report = results.report.model_copy(update={"numbers": numbers})
    page = read_page(render(replace(results, report=report)))
    row = next(row for row in page.rows if row[0] == "depth.absrel")
    assert "0.08000 to 0.09250" in row


def test_badges_say_partial_and_failed() -> None:
    text = read_text(make_partial(build_results(frames=4)))
    assert "partial: 60 of 640 samples" in text
    assert "4 failed" in text
    assert "Not the whole dataset: limited to 64 samples; shard 1 of 4." in text


def test_phase_difficulty_table_marks_missing_cells_and_the_best_and_worst() -> None:
    results = build_results()
    content = render(results).decode()
    rows = [row for row in read_page(render(results)).rows if row[0] in set(Difficulty)]
    assert [len(row) for row in rows] == [4, 4, 4]
    assert rows[2][2] == "no data"
    extreme = r'<td class="(good|bad)" style="--mix:100.0%">\s*<span class="number">([^<]*)'
    grid = results.report.readiness.grid
    values = [cell.value for cell in grid if cell.value is not None]
    assert dict(re.findall(extreme, content)) == {
        "good": format_number(min(values)),
        "bad": format_number(max(values)),
    }


def test_scores_show_coverage_and_say_better_or_worse() -> None:
    rows = read_page(render(build_results())).rows
    scores = {row[0]: row for row in rows}
    assert scores["STR, clutter to interaction"][-2:] == ["66.7 %", "▼ worse"]
    assert scores["STR, interaction to clean"][-2:] == ["66.7 %", "▲ better"]
    assert scores["Phase score, interaction"][1] == "n/a (no value for difficulty hard)"


def test_scores_that_all_lack_are_folded_under_their_reasons() -> None:
    results = build_results(frames=4)
    scores = tuple(
        score.model_copy(update={"value": None, "reason": "no phases"})
        for score in results.report.readiness.scores
    )
    readiness = results.report.readiness.model_copy(update={"scores": scores})
    report = results.report.model_copy(update={"readiness": readiness})
    text = read_text(replace(results, report=report))
    assert "None can be said of this data: no phases." in text
    assert f"All {len(scores)} scores" in text


def test_a_mean_of_pairs_is_called_so() -> None:
    results = build_results(frames=4)
    numbers = tuple(
        number.model_copy(update={"evidence": Unit.PAIR}) for number in results.report.numbers
    )
    rows = read_page(
        render(replace(results, report=results.report.model_copy(update={"numbers": numbers})))
    ).rows
    aggregates = {row[-1] for row in rows if row[0].startswith("depth.")}
    assert aggregates == {"mean of pairs", "median of pairs", "mean of scenes"}


def test_every_table_has_a_caption_and_every_header_a_scope() -> None:
    page = read_page(render(build_results()))
    tags = [tag for tag, _ in page.tags]
    assert tags.count("table") == tags.count("caption")
    assert all("scope" in names for tag, names in page.tags if tag == "th")
    assert all("alt" in names for tag, names in page.tags if tag == "img")


def test_two_hundred_failures_are_shown_with_the_total() -> None:
    page = read_page(render(build_results(frames=30, lost=300)))
    shown = [row for row in page.rows if len(row) == 4 and row[1] in {"load", "validate"}]
    assert len(shown) == 200
    text = " ".join(page.text_outside("pre").split())
    assert "200 of 300 failed samples" in text
    assert "validate: 150" in text


def test_pictures_are_embedded_and_no_wider_than_needed(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (900, 1600, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "wide.png")
    results = replace(build_results(frames=4), run_directory=tmp_path)
    page = read_page(render(with_pictures(results, "wide.png")))
    image = {name: value for tag, name, value in page.attributes if tag == "img"}
    assert image["src"].startswith("data:image/jpeg;base64,")
    assert (image["width"], image["height"]) == ("480", "270")
    assert image["alt"] == "picture wide.png of sample a"


def test_a_picture_that_cannot_be_shown_becomes_a_note(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "secret.png")
    (run / "damaged.png").write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    (run / "link.png").symlink_to(tmp_path / "secret.png")
    Image.new("1", (8000, 8000)).save(run / "huge.png")
    paths = ("missing.png", "../secret.png", "link.png", "damaged.png", "huge.png", "nul\0.png")
    results = replace(build_results(frames=4), run_directory=run)
    page = read_page(render(with_pictures(results, *paths)))
    notes = [text for _, text in page.texts if text.startswith("picture ") and "." not in text]
    assert notes == [
        "picture file is missing",
        *["picture cannot be read"] * 3,
        "picture is too large to embed",
        "picture cannot be read",
    ]
    assert "img" not in {tag for tag, _ in page.tags}


def test_twenty_thousand_samples_stay_under_a_megabyte() -> None:
    results = build_results(frames=1250, lost=3000)
    assert len(results.rows) == 20_000
    assert len(render(results)) < 1_000_000


def test_other_runs_stand_beside_this_one() -> None:
    results = build_results(frames=4)
    other = build_results(frames=6).report
    other = other.model_copy(update={"numbers": other.numbers[:1]})
    rows = read_page(render(replace(results, others=[other]))).rows
    beside = {row[0]: row[-1] for row in rows if len(row) == 4 and row[0].startswith("depth.")}
    assert beside["depth.absrel"] == format_number(other.numbers[0].value or 0)
    assert beside["depth.rmse"] == "n/a (not computed)"


def test_one_value_is_no_distribution() -> None:
    results = build_results(frames=4, lost=0)
    for count, drawn in ((1, False), (2, True)):
        page = read_page(render(replace(results, rows=results.rows[:count])))
        ids = {value for _, name, value in page.attributes if name == "id"}
        assert ("distribution" in ids) is drawn


@given(st.lists(finite, min_size=1, max_size=60))
def test_a_histogram_counts_every_value_inside_the_chart(values: list[float]) -> None:
    axis = charts.fit_axis(values)
    if axis is None:
        assert max(map(abs, values)) > 1e300
        return
    chart = charts.count_bars(values, axis)
    assert sum(bar.count for bar in chart.bars) == chart.count == len(values)
    assert all(0 <= bar.left < 100 and 0 < bar.height <= 100 for bar in chart.bars)
    assert all(0 <= tick.position <= 100 for tick in axis.ticks)
    assert len(axis.ticks) <= 10


@given(st.lists(st.none() | finite, max_size=400))
def test_a_trend_stays_in_its_box(values: list[float | None]) -> None:
    axis = charts.fit_axis([value for value in values if value is not None])
    if axis is None:
        return
    trend = charts.draw_trend(values, axis)
    numbers = re.findall(r"[-\d.e+]+", " ".join(trend.lines))
    assert all(0 <= float(number) <= 100 for number in numbers)
    assert len(numbers) <= 4 * 120


def test_a_far_value_does_not_squeeze_the_histogram() -> None:
    values = [*np.linspace(0, 1, 200).tolist(), 1000.0]
    axis = charts.fit_axis(values)
    assert axis is not None
    chart = charts.count_bars(values, axis)
    assert (axis.high < 3, chart.beyond) == (True, 1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(scheme: str) -> None:
    colours = read_colours(scheme)
    pairs = [("ink", "ground"), ("ink", "panel"), ("soft", "ground"), ("soft", "panel")]
    pairs += [("accent", "ground"), ("accent", "panel"), ("ink", "accent-pale")]
    pairs += [("soft", "accent-pale"), ("ink", "good"), ("ink", "middle"), ("ink", "bad")]
    pairs += [(name, f"{name}-pale") for name in ("fine", "warn", "poor")]
    pairs += [("fine", "panel"), ("poor", "panel"), ("ink", "warn-pale")]
    weak = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < 4.5} == {}


def read_colours(scheme: str) -> Mapping[str, str]:
    light, dark = STYLE.read_text().split("@media screen and (prefers-color-scheme: dark)")
    block = light if scheme == "light" else dark.split("}")[0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def contrast(first: str, second: str) -> float:
    """Ratio of relative luminances, by WCAG 2."""

    def luminance(colour: str) -> float:
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (
            channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
            for channel in channels
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    full = build_results(folder, frames=12)
    variants = {
        "full": build_rivals(full),
        "hostile": poison(make_partial(full)),
        "long": poison(full, "y" * 3000),
        "empty": build_results(frames=0),
    }
    for name, results in variants.items():
        (folder / f"{name}.html").write_bytes(render(results))
    return {name: folder / f"{name}.html" for name in variants}


@pytest.mark.browser
@pytest.mark.parametrize("name", ["full", "hostile", "long", "empty"])
def test_page_never_scrolls_sideways(
    chromium_page: BrowserPage, pages: Mapping[str, Path], name: str
) -> None:
    for width in (320, 375, 768, 1280):
        chromium_page.set_viewport_size({"width": width, "height": 800})
        chromium_page.goto(pages[name].as_uri())
        chromium_page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert chromium_page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.parametrize("name", ["full", "hostile"])
def test_page_asks_the_network_for_nothing_and_reports_no_error(
    chromium_page: BrowserPage, pages: Mapping[str, Path], name: str
) -> None:
    requests: list[str] = []
    problems: list[str] = []
    chromium_page.on("request", lambda request: requests.append(request.url))
    chromium_page.on("console", lambda message: problems.append(message.text))
    chromium_page.on("pageerror", lambda error: problems.append(str(error)))
    chromium_page.on("dialog", lambda dialog: problems.append(dialog.message))
    for scheme in ("light", "dark"):
        chromium_page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # a literal
        chromium_page.goto(pages[name].as_uri())
    outside = [url for url in requests if not url.startswith("data:")]
    assert outside == [pages[name].as_uri()] * 2
    assert problems == []


@pytest.mark.browser
def test_every_picture_of_the_page_is_drawn(
    chromium_page: BrowserPage, pages: Mapping[str, Path]
) -> None:
    chromium_page.goto(pages["full"].as_uri())
    widths = chromium_page.evaluate("[...document.images].map(image => image.naturalWidth)")
    assert widths == [320] * 16
