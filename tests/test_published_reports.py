"""The published reports, tables and logging."""

from __future__ import annotations

import dataclasses
import io
import json
import logging
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rpx_core as rpx
from rpx_core.reporters.markdown import escape

from .published_samples import Model, depth_samples

DEPTH = rpx.TaskType.MONOCULAR_DEPTH
PLAIN = rpx.BenchmarkResult(DEPTH, [{"id": "a", "absrel": 0.1}], {"absrel": 0.1, "rmse": None}, 1)
WHO: dict[str, Any] = {"task": DEPTH, "model_name": "flat", "split": "hard", "repo_id": "me/set"}


@pytest.fixture(scope="module")
def evaluated() -> tuple[rpx.BenchmarkResult, rpx.DeploymentReadinessReport]:
    """A constant model on a wall in every phase and difficulty."""
    model = Model(DEPTH, lambda sample: np.full((4, 6), 2.0, np.float32))
    runner = rpx.BenchmarkRunner(model, rpx.RPXDataset(depth_samples(), DEPTH))
    return runner.run_with_deployment_readiness("absrel", model_name="flat")


def refuse(literal: str) -> float:
    raise AssertionError(f"{literal} is not strict JSON")


def read_strictly(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


# Warnings.


def test_a_wrong_unit_is_warned_of_wherever_a_result_is_shown(tmp_path: Path) -> None:
    model = Model(DEPTH, lambda sample: np.full((4, 6), 2000.0, np.float32))
    result = rpx.BenchmarkRunner(model, rpx.RPXDataset(depth_samples(), DEPTH)).run()
    (warning,) = (one for one in result.warnings if "check units" in one)
    assert f"\nwarning: {warning}" in str(result)
    text = rpx.format_markdown_summary(**WHO, result=result)
    assert f"- {escape(warning)}\n" in text.partition("## Warnings\n\n")[2]
    stored = read_strictly(rpx.write_json(tmp_path / "out.json", **WHO, result=result))
    assert stored["warnings"] == list(result.warnings)


def test_plain_rows_are_doubted_by_what_they_say() -> None:
    suite = rpx.MetricSuite.for_task(DEPTH)
    assert "outside 0.1 to 10" in suite.build_result([{"id": "a", "scale_ratio": 1e3}]).warnings[0]
    assert suite.build_result([{"id": "a", "scale_ratio": 1.0}]).warnings == ()


def test_warnings_are_escaped_and_cut() -> None:
    warnings = [f"<b>{number}</b>\n# {'x' * 900}" for number in range(30)]
    result = dataclasses.replace(PLAIN, warnings=warnings)
    text = rpx.format_markdown_summary(**WHO, result=result)
    assert "<b>" not in text
    assert "\n# x" not in text
    assert "- and 10 more" in text
    assert len(text) < 20_000
    assert len(str(result).splitlines()) == len(str(PLAIN).splitlines()) + 31


# Markdown.


def test_summary_has_the_published_sections(evaluated: Any) -> None:
    result, report = evaluated
    text = rpx.format_markdown_summary(**WHO, result=result, dr_report=report)
    for part in (
        "# `flat` on `monocular_depth`",
        "split `hard` of `me/set`, 18 samples",
        "## Aggregated metrics",
        "| `absrel` | 0.5000 | - | ↓ | 18 | 0 | mean of samples |",
        "## Weighted Phase Score",
        "| S_C, clutter | 0.5000 | ↓ | 100 % |",
        "| Δ interaction (S_I − S_C) | 0 | = equal | 100 % |",
        "| Δ recovery (S_L − S_I) | 0 | = equal | 100 % |",
        "## State-Transition Robustness",
        "## Temporal Stability",
        "## Efficiency",
        "| parameters (M) | n/a |",
    ):
        assert part in text


def test_summary_says_why_a_score_is_missing(evaluated: Any) -> None:
    _, report = evaluated
    few = rpx.RPXDataset(depth_samples()[:2], DEPTH)
    model = Model(DEPTH, lambda sample: np.full((4, 6), 2.0, np.float32))
    result, report = rpx.BenchmarkRunner(model, few).run_with_deployment_readiness("absrel")
    text = rpx.format_markdown_summary(**WHO, result=result, dr_report=report)
    assert "| S_I, interaction | n/a (no samples) | ↓ | 0 % |" in text


def test_summary_of_a_result_made_by_hand() -> None:
    esd = rpx.ESDResult(0.1, 0.2, 0.3, "absrel")
    report = rpx.DeploymentReadinessReport(
        DEPTH,
        "mine",
        weighted_phase_score=rpx.WeightedPhaseScore(esd, esd, esd),
        temporal_stability=rpx.TemporalStabilityResult(0.5, 3, [0.5] * 3),
        state_transition=rpx.StateTransitionRobustnessResult(0.04, -0.06, 0.1, 0.14, 0.08),
        geometric_coherence=rpx.StackGeometricCoherenceResult(0.4, 0.5, 0.3, 7),
        params_m=345.07,
    )
    text = rpx.format_markdown_summary(**WHO, result=PLAIN, dr_report=report)
    assert "| `rmse` | n/a |" in text
    assert "| S, overall | 0.2150 |" in text
    assert "| STR, interaction to clean | -0.0600 |" in text
    assert "TS = 0.5000 over 3 pairs" in text
    assert "SGC = 0.4000 (precision 0.5000, recall 0.3000) over 7 samples" in text
    assert "| parameters (M) | 345.1 |" in text


def test_summary_without_readiness_ends_with_the_metrics() -> None:
    text = rpx.format_markdown_summary(**WHO, result=PLAIN)
    assert text.endswith("| `rmse` | n/a |\n")
    bare = dataclasses.replace(PLAIN, aggregated={})
    assert rpx.format_markdown_summary(**WHO, result=bare).endswith("none\n")


def test_foreign_names_cannot_be_markup() -> None:
    nasty = "<script>|`*x*`\n# y @team"
    result = dataclasses.replace(PLAIN, aggregated={nasty: 1.0})
    text = rpx.format_markdown_summary(
        task=nasty, model_name=nasty, split=nasty, repo_id=nasty, result=result
    )
    assert "<script>" not in text
    assert "\n# y" not in text
    assert "@team" not in text
    assert all(line.count(" | ") == 1 for line in text.splitlines() if line.startswith("|"))


# JSON.


def test_document_has_the_published_keys(evaluated: Any, tmp_path: Path) -> None:
    result, report = evaluated
    path = rpx.write_json(tmp_path / "a" / "out.json", **WHO, result=result, dr_report=report)
    stored = read_strictly(path)
    assert path == tmp_path / "a" / "out.json"
    assert list(stored) == [
        *("task", "model", "split", "repo_id", "num_samples", "aggregated", "per_sample"),
        *("warnings", "numbers", "deployment_readiness"),
    ]
    assert (stored["task"], stored["model"], stored["num_samples"]) == (DEPTH, "flat", 18)
    assert stored["aggregated"] == dict(result.aggregated)
    assert stored["per_sample"][0]["phase"] == "clean"
    assert stored["numbers"]["absrel"]["n"] == 18
    score = stored["deployment_readiness"]["weighted_phase_score"]
    assert (score["s_clutter"], score["delta_int"], score["clean"]["hard"]) == (0.5, 0.0, 0.5)


def test_what_is_no_number_is_null(tmp_path: Path) -> None:
    rows = [{"id": "a", "absrel": math.nan, "psnr": np.float32(math.inf), "n": np.int64(3)}]
    result = rpx.BenchmarkResult(DEPTH, rows, {"absrel": math.nan}, 1)
    stored = read_strictly(rpx.write_json(tmp_path / "out.json", **WHO, result=result))
    assert stored["per_sample"] == [{"id": "a", "absrel": None, "psnr": None, "n": 3}]
    assert stored["aggregated"] == {"absrel": None}
    assert "deployment_readiness" not in stored


def test_extra_holds_arrays_paths_and_dataclasses_and_names_what_it_cannot(
    tmp_path: Path,
) -> None:
    extra = {"a": np.eye(2), "p": Path("x/y"), "e": rpx.ESDResult(0.1, None, 0.3, "m"), "t": (1, 2)}
    stored = read_strictly(rpx.write_json(tmp_path / "o.json", **WHO, result=PLAIN, extra=extra))
    assert stored["extra"] == {
        "a": [[1.0, 0.0], [0.0, 1.0]],
        "p": str(Path("x/y")),
        "e": {"easy": 0.1, "medium": None, "hard": 0.3, "metric_key": "m"},
        "t": [1, 2],
    }
    with pytest.raises(rpx.ConfigError, match=r"extra\.a\[1\] is a object"):
        rpx.write_json(tmp_path / "o.json", **WHO, result=PLAIN, extra={"a": [1, object()]})


@pytest.mark.parametrize("place", ["taken/out.json", "taken/deep/out.json", f"{'x' * 300}/o.json"])
def test_a_place_that_cannot_be_written_is_one_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "taken").write_text("a file, no folder")
    with pytest.raises(rpx.RPXError, match="cannot be written"):
        rpx.write_json(tmp_path / place, **WHO, result=PLAIN)


# Tables.


def test_a_result_prints_as_a_table(evaluated: Any) -> None:
    result, report = evaluated
    lines = str(result).splitlines()
    assert lines[0] == "monocular_depth: 18 samples"
    assert lines[2].split() == [
        *("output", "value", "unit", "better", "n", "undefined", "aggregate", "why", "not"),
    ]
    assert lines[4].split() == ["absrel", "0.5000", "↓", "18", "0", "mean", "of", "samples"]
    assert all(line == line.rstrip() for line in lines)
    assert "Phase score, overall" in str(report)


def test_a_result_made_by_hand_prints_what_it_has() -> None:
    assert str(PLAIN).splitlines()[4:] == ["absrel  0.1000", "rmse       n/a"]
    empty = rpx.BenchmarkResult(DEPTH, [], {}, 0)
    assert str(empty) == "monocular_depth: 0 samples, no numbers"
    assert str(rpx.DeploymentReadinessReport(DEPTH, "m")) == "m: no readiness scores"


# Logging.


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    """The logger of the package, left as it was found."""
    logger = logging.getLogger("rpx")
    before = (logger.level, list(logger.handlers), logger.propagate)
    yield logger
    logger.level, logger.handlers, logger.propagate = before[0], before[1], before[2]


def test_loggers_lie_below_the_package() -> None:
    assert rpx.get_logger("rpx").name == "rpx"
    assert rpx.get_logger("loader").name == "rpx.loader"
    assert rpx.get_logger("rpx.hub").name == "rpx.hub"


def test_configured_messages_go_to_stderr_once(
    logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    rpx.configure_logging("warning", force=True)
    rpx.configure_logging("warning")
    rpx.get_logger("loader").info("quiet")
    rpx.get_logger("loader").warning("loud")
    err = capsys.readouterr().err
    assert err.count("WARNING rpx.loader: loud") == 1
    assert "quiet" not in err
    assert len(logger.handlers) == 1


def test_the_environment_wins_over_the_level(
    logger: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RPX_LOG_LEVEL", "error")
    rpx.configure_logging("DEBUG", force=True)
    assert logger.level == logging.ERROR
    monkeypatch.setenv("RPX_LOG_LEVEL", "loud")
    with pytest.raises(rpx.ConfigError, match="RPX_LOG_LEVEL is 'loud'"):
        rpx.configure_logging()
    monkeypatch.delenv("RPX_LOG_LEVEL")
    rpx.configure_logging(logging.DEBUG)
    assert logger.level == logging.DEBUG


def test_rich_lines_are_an_option(
    logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    rpx.configure_logging("INFO", force=True, use_rich=True)
    logger.info("coloured")
    assert "coloured" in capsys.readouterr().err


def test_the_banner_says_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RPX_NO_BANNER", raising=False)
    file = io.StringIO()
    rpx.show_banner(context="monocular_depth", subtitle="split hard", file=file)
    _, title, subtitle, _ = file.getvalue().splitlines()
    assert title.endswith("| monocular_depth")
    assert subtitle == "split hard"


@pytest.mark.parametrize("enabled", [True, False])
def test_the_banner_can_be_switched_off(
    enabled: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RPX_NO_BANNER", "1" if enabled else "")
    rpx.show_banner(enabled=enabled)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("RPX_NO_BANNER", "")
    rpx.show_banner()
    assert "RPX" in capsys.readouterr().err
