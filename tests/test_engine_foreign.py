"""Whatever foreign code does, it costs itself: never the run, the command, or another's numbers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rpx_core.errors import ConfigError, ExitCode, IncompleteRunError, JournalError, PluginError
from rpx_core.interrupts import is_interrupt
from rpx_core.run import Request, run
from tests.toys.bench import QUIET, Bench, facts, failures, value
from tests.toys.lab import Lab

ALL = 45
ENDINGS = ["asyncio.CancelledError('enough')", "GeneratorExit('enough')", "Own('enough')"]


def write_model(bench: Bench, body: str) -> str:
    """A function `guess` in a file of its own."""
    file = bench.folder / "mine.py"
    file.write_text(
        "import asyncio, os\nfrom pathlib import Path\n\n"
        "class Own(BaseException):\n    pass\n\n"
        f"def guess(name):\n    {body}\n"
    )
    return f"{file}:guess"


@pytest.mark.parametrize("raised", [*ENDINGS, "SystemExit('enough')"])
@pytest.mark.parametrize("workers", [1, 2])
def test_any_exception_of_a_model_is_a_failed_sample(
    bench: Bench, raised: str, workers: int
) -> None:
    model = write_model(bench, f"raise {raised}")
    report = bench.run(model=model, execution={"workers": workers}).report
    assert set(failures(report).values()) == {("predict", "enough")}
    assert report.status.failed_samples == ALL


def test_a_model_that_does_not_say_where_its_weights_are_is_warned_of(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rpx_core.worker.find_modules", lambda model: 1 // 0)
    report = bench.run(model=write_model(bench, "return 1.0")).report
    assert report.status.failed_samples == 0
    warning = "warning: saying where its weights are failed 1 time: ZeroDivisionError"
    assert warning in capsys.readouterr().err


@pytest.mark.parametrize("raised", [*ENDINGS, "KeyboardInterrupt"])
def test_a_command_outlives_any_exception_of_a_model(lab: Lab, raised: str) -> None:
    bench = Bench(lab.folder, None)  # type: ignore[arg-type]  # writes a file, runs nothing
    ran = lab.rpx("--model", write_model(bench, f"raise {raised}"))
    assert ran.returncode == ExitCode.INCOMPLETE, ran.stderr
    assert "Traceback" not in ran.stderr


def test_an_interrupt_that_a_model_raises_is_a_failed_profile(lab: Lab) -> None:
    bench = Bench(lab.folder, None)  # type: ignore[arg-type]  # writes a file, runs nothing
    ran = lab.rpx("--profile", "--model", write_model(bench, "raise KeyboardInterrupt"))
    assert "could not be profiled: KeyboardInterrupt" in ran.stdout
    assert "Traceback" not in ran.stderr


def test_an_interrupt_is_real_where_nobody_watches() -> None:
    code = (
        "from rpx_core.interrupts import is_interrupt, watch_interrupts\n"
        "assert is_interrupt(KeyboardInterrupt())\n"
        "watch_interrupts()\n"
        "assert not is_interrupt(KeyboardInterrupt())\n"
        "import os, signal\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    __import__('time').sleep(60)\n"
        "except KeyboardInterrupt as error:\n    assert is_interrupt(error)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not is_interrupt(ValueError())


def test_a_model_that_goes_to_another_folder_takes_nothing_with_it(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    model = write_model(bench, f"os.chdir({str(elsewhere)!r}); return 1.0")
    execution = {"save_predictions": True, "previews": 2}
    plan = bench.plan(model=model, execution=execution)
    relative = Bench(Path(os.path.relpath(bench.folder)), bench.host)
    plan = relative.plan(model=model, data=str(bench.folder / "set.json"), execution=execution)
    outcome = run(plan, bench.host, Request(reporters=("json",)))
    assert Path.cwd() == tmp_path
    assert not any(elsewhere.iterdir())
    assert len(list((outcome.directory / "predictions").iterdir())) == ALL
    assert (outcome.directory / "report" / "result.json").is_file()


def test_a_metric_that_raises_costs_its_own_numbers_alone(bench: Bench) -> None:
    metrics = {"error": "toy-error", "raise": "toy-raise"}
    alone = bench.run(metrics={"error": "toy-error"}, runs="alone").report
    outcome = bench.run(metrics=metrics)
    report = outcome.report
    assert value(report, "error.abs@sample") == value(alone, "error.abs@sample")
    number = report.number("raise.abs@sample")
    assert (number.value, number.failed, number.reason) == (None, ALL, "all 45 failed")
    assert {failed.failure.metric for failed in report.failures} == {"raise"}
    assert (report.status.failed_samples, report.status.failed_others) == (0, ALL)
    assert outcome.exit_code == ExitCode.INCOMPLETE


def test_what_a_metric_failed_on_is_tried_again(bench: Bench) -> None:
    metrics = {"error": "toy-error", "raise": "toy-raise"}
    first = bench.run(metrics=metrics)
    assert bench.run(metrics=metrics).samples_done == first.samples_done == ALL


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"version": None}, "version is not a text"),
        ({"unit": "bogus"}, "unit is 'bogus'"),
        ({"State": int}, "State is no dataclass"),
        ({"outputs": []}, "outputs are not a mapping"),
        ({"outputs": {"abs": 5}}, "output 'abs' is an int"),
    ],
)
def test_a_metric_without_what_metrics_have_is_refused_by_name(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], says: str
) -> None:
    import toy_engine_metrics

    for name, changed in changes.items():
        monkeypatch.setattr(toy_engine_metrics.Error, name, changed)
    with pytest.raises(PluginError, match=says) as refused:
        bench.run()
    assert "toy-engine/toy-error" in refused.value.message


def test_a_result_that_is_no_mapping_is_said_of_its_metric(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toy_engine_metrics

    monkeypatch.setattr(toy_engine_metrics.Error, "result", lambda self, state: None)
    report = bench.run(metrics={"error": "toy-error"}).report
    ((stage, message),) = set(failures(report).values())
    assert stage == "measure"
    assert "metric error: result() gave NoneType" in message


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def __getattr__(name):\n    raise ValueError('no such luck')\n", "no such luck"),
        ("from ............ import far\ndef guess(name):\n    return 1.0\n", "import"),
        (
            "def guess(name):\n    return 1.0\n\ndef later():\n    import beside\n",
            None,
        ),
    ],
    ids=["getattr", "far-import", "deep-sibling"],
)
def test_a_strange_model_file_is_one_error_or_none(
    bench: Bench, source: str, says: str | None
) -> None:
    file = bench.folder / "odd.py"
    file.write_text(source)
    (bench.folder / "beside.py").write_text("x = " + "(" * 5000 + ")" * 5000)
    if says is None:
        assert bench.run(model=f"{file}:guess").exit_code == ExitCode.OK
        return
    with pytest.raises(ConfigError, match=says):
        bench.run(model=f"{file}:guess")


def test_a_journal_that_is_removed_while_a_run_goes_on_ends_it(bench: Bench) -> None:
    folder = str(bench.folder / "runs")
    body = f"import shutil; shutil.rmtree({folder!r}, ignore_errors=True); return 1.0"
    with pytest.raises(JournalError, match="was removed while the run went on"):
        bench.run(model=write_model(bench, body))


def test_sequences_that_left_the_journal_are_missed_before_a_report_is_written(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    import rpx_core.run

    whole = bench.run(Request(reporters=("json",)))
    report = whole.directory / "report" / "result.json"
    before = report.read_bytes()

    def lose(*arguments: Any, **named: Any) -> None:
        shutil.rmtree(whole.directory / "journal")
        (whole.directory / "journal").mkdir()

    monkeypatch.setattr(rpx_core.run, "_execute", lose)
    next((whole.directory / "journal").glob("*.jsonl")).write_bytes(b"")
    with pytest.raises(IncompleteRunError, match="lacks 9 of the 9 sequences"):
        bench.run(Request(reporters=("json",)))
    assert report.read_bytes() == before


@pytest.mark.parametrize("json_flag", [[], ["--json"]])
def test_output_that_finds_no_room_is_one_error(json_flag: list[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    command = [sys.executable, "-m", "rpx_core.cli", "list", *json_flag]
    with open("/dev/full", "w", encoding="utf-8") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == ExitCode.INCOMPLETE
    assert "No space left" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_closed_streams_do_not_matter() -> None:
    rpx = f"{sys.executable} -m rpx_core.cli"
    for command, code in ((f"{rpx} list >&-", 0), (f"{rpx} nonsense >&- 2>&-", 2)):
        ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert ran.returncode == code, ran.stderr
        assert "Traceback" not in ran.stderr


def test_nothing_of_a_run_depends_on_when_it_is_run(bench: Bench) -> None:
    assert facts(bench.run(QUIET, runs="a").report) == facts(bench.run(QUIET, runs="b").report)


@pytest.mark.parametrize("name", ["Called", "Bare"])
def test_a_class_stands_for_what_it_makes_and_needs_no_setup(bench: Bench, name: str) -> None:
    (bench.folder / "classes.py").write_text(
        "class Called:\n    def __call__(self, name):\n        return 1.0\n\n"
        "class Bare:\n    task = 'toy_level'\n\n"
        "    def predict(self, batch):\n        return [1.0 for _ in batch]\n"
    )
    outcome = bench.run(model=f"{bench.folder / 'classes.py'}:{name}")
    assert outcome.exit_code == ExitCode.OK
