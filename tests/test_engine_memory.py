"""A batch that does not fit into memory is in the report, whoever met it and whenever."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpx_core.lifecycle import DEFAULT_REPORTERS, Request
from rpx_core.report import Report
from tests.toys.bench import QUIET, Bench

GREEDY = '''
from rpx_core.inference.memory import Batches


class Greedy:
    """Has room for two samples."""

    def __init__(self):
        self.batches = Batches(lambda: None)

    def describe(self):
        return {"device": "cpu (tiny)", **self.batches.describe()}

    def predict(self, batch):
        return self.batches.run(list(batch), self.answer)

    def answer(self, batch):
        if len(batch) > 2:
            raise MemoryError("out of memory")
        return [0.5 for sample in batch]
'''
SAYS = "batches did not fit into the memory of cpu (tiny): samples went through the model at most 2"


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "greedy.py").write_text(GREEDY)
    return f"{tmp_path / 'greedy.py'}:Greedy"


def said(report: Report) -> list[str]:
    return [warning for warning in report.warnings if "memory" in warning]


@pytest.mark.parametrize("workers", [1, 2])
def test_the_size_that_fitted_in_the_end_is_in_every_report(
    bench: Bench,
    model: str,
    workers: int,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    execution = {"batch_size": 8, "workers": workers, "previews": 0}
    outcome = bench.run(Request(reporters=DEFAULT_REPORTERS), model=model, execution=execution)
    assert outcome.report.status.failed_samples == 0
    (warning,) = said(outcome.report)
    assert warning.startswith(SAYS)
    assert [writer.model["largest_batch"] for writer in outcome.report.writers] == ["2"] * workers
    for name in ("result.json", "summary.md", "report.html"):
        assert "at most 2 at a time" in (outcome.directory / "report" / name).read_text()
    # Half of half of eight: only what fitted is told.
    told = capfd.readouterr().err + caplog.text
    assert told.count("going on with 2 at a time") == workers


def test_a_finished_run_still_says_so_when_it_is_folded_again(bench: Bench, model: str) -> None:
    layer = {"model": model, "execution": {"batch_size": 8, "previews": 0}}
    first = bench.run(QUIET, **layer)
    again = bench.run(QUIET, **layer)
    assert again.samples_done == 0
    assert said(again.report) == said(first.report) != []


def test_a_run_whose_batches_fit_says_nothing(bench: Bench, model: str) -> None:
    outcome = bench.run(QUIET, model=model, execution={"batch_size": 2, "previews": 0})
    assert said(outcome.report) == []
    assert "largest_batch" not in outcome.report.writers[0].model
