"""The commands that run and score: exit codes, what they print, what they save and read."""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rpx_core.cli import invoke
from tests.commands import rpx
from tests.toys.bench import Bench
from tests.toys.lab import Lab, toy_samples

AWKWARD = [
    "a/b/c",
    "dots..and..more",
    ".hidden",
    "..",
    "spaces and (brackets)",
    "ünïcode/路",
    "per%cent%2F",
    "Case",
    "case",
    "long-" + "é" * 190,
    "semi;colon'quote\"",
    "trailing.",
    "a.json",
]


def document(ran: subprocess.CompletedProcess[str]) -> Any:
    """The one strict JSON document on stdout."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    return json.loads(ran.stdout, parse_constant=refuse)


@dataclass(frozen=True)
class Here(Lab):
    """The same commands inside this process, which is quicker."""

    capture: pytest.CaptureFixture[str]

    def rpx(
        self, *arguments: str, verb: str = "run", runs: str = "runs"
    ) -> subprocess.CompletedProcess[str]:
        _, _, _, *command = self.command(*arguments, verb=verb, runs=runs)
        code = invoke(command)
        out, err = self.capture.readouterr()
        return subprocess.CompletedProcess(command, code, out, err)


@pytest.fixture
def here(bench: Bench, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(bench.folder, capsys)


def set_options(**options: Any) -> list[str]:
    """Flags that set options of the model."""
    return [
        part
        for name, value in options.items()
        for part in ("--set", f"model.options.{name}={json.dumps(value)}")
    ]


def test_a_run_that_is_fine_exits_with_0_and_says_where_it_is(lab: Lab) -> None:
    ran = lab.rpx()
    assert ran.returncode == 0
    assert "45 of 45 samples" in ran.stdout
    assert "error.abs" in ran.stdout
    assert ran.stderr == ""


def test_failed_samples_exit_with_3_after_the_run_is_done(lab: Lab) -> None:
    ran = lab.rpx("--model", "toy-noise", *set_options(raises=["scene0_clean_0"]))
    assert ran.returncode == 3
    assert "1 failed" in ran.stdout
    assert "failed scene0_clean_0 (predict, RuntimeError): cannot do scene0_clean_0" in ran.stdout
    allowed = lab.rpx(
        "--model", "toy-noise", "--max-failed", "1", *set_options(raises=["scene0_clean_0"])
    )
    assert allowed.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--task", "toy_levl"], 2, "did you mean toy_level"),
        (["--model", "toy-nois"], 2, "did you mean toy-noise"),
        (["--data", "none.json"], 2, "none.json: no such manifest"),
        (["--split", "extreme"], 2, "none in split 'extreme'"),
        (["--shard", "4/3"], 2, "--shard 4/3: I/N with 1 <= I <= N was expected"),
        (["--set", "execution.worker=2"], 2, "did you mean workers?"),
        (["--set", "seed"], 2, "A.B=VALUE was expected"),
        (["--model", "toy-noise", "--set", "model.options.bias=much"], 2, "model.options.bias: "),
        (["--by", "sight"], 2, "--by sight: no sample has it"),
        (["--model", "toy-breaks", *set_options(how="setup raises")], 2, "weights are gone"),
        (["--set", "metrics.bad='toy-pooled-nan'"], 4, "its pooled numbers are missing"),
        (["--limit", "0"], 2, "0 is not in the range x>=1"),
    ],
)
def test_each_mistake_is_one_paragraph_and_its_exit_code(
    here: Here, arguments: list[str], code: int, says: str
) -> None:
    ran = here.rpx(*arguments)
    told = " ".join((ran.stdout + ran.stderr).split())
    assert ran.returncode == code, told
    assert says in told
    assert "Traceback" not in told


def test_an_empty_dataset_is_an_error_and_leaves_no_report(here: Here) -> None:
    # RW-116
    here.write_manifest([])
    ran = here.rpx("--json")
    assert ran.returncode == 2
    assert "has no samples" in document(ran)["error"]["message"]
    assert not (here.folder / "runs").exists()


def test_json_is_one_strict_document_also_of_errors_and_of_models_that_print(lab: Lab) -> None:
    fine = document(lab.rpx("--json"))
    (run,) = fine["runs"]
    assert run["exit_code"] == 0
    assert Path(run["run"]).is_dir()
    for more in ([], ["--workers", "2"]):
        ran = lab.rpx(
            "--json", "--fresh", "--model", "toy-breaks", *set_options(how="prints"), *more
        )
        assert document(ran)["runs"][0]["status"]["evaluated_samples"] == 45
        assert "predicting" in ran.stderr
    assert "from below" in ran.stderr
    wrong = lab.rpx("--json", "--set", "sede=1")
    assert wrong.returncode == 2
    error = document(wrong)["error"]
    assert "sede" in error["message"]
    assert "seed" in error["hint"]
    usage = lab.rpx("--json", "--nonsense")
    assert usage.returncode == 2
    assert "--nonsense" in document(usage)["error"]["message"]


def test_quiet_prints_nothing_but_errors(here: Here) -> None:
    assert (here.rpx("--quiet").stdout, here.rpx("--quiet").stderr) == ("", "")
    wrong = here.rpx("--quiet", "--task", "none")
    assert wrong.stdout == ""
    assert wrong.stderr.startswith("error: ")


def test_flags_beat_the_file_which_beats_the_protocol_which_beats_defaults(lab: Lab) -> None:
    config = lab.folder / "run.toml"
    config.write_text(
        f"""
        protocol = "toy-fixed"
        data = {json.dumps(str(lab.manifest))}
        align = "none:sequence"
        seed = 5

        [model]
        name = "toy-memory"
        options = {{ bias = 1.0 }}
        """
    )
    ran = subprocess.run(
        [
            *lab.command(str(config), "--data", "unused")[:-2],
            "--seed",
            "6",
            "--limit",
            "7",
            "--set",
            "model.options.bias=2.0",
        ],
        cwd=lab.folder,
        env=lab.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    inputs = json.loads((lab.run_directory() / "run.json").read_text())["inputs"]
    assert inputs["seed"] == 6
    assert inputs["data"]["limit"] == 7
    assert inputs["align"] == {"method": "none", "scope": "sequence"}
    assert inputs["model"]["name"] == "toy-engine/toy-memory"
    assert inputs["model"]["options"]["bias"] == 2.0
    assert inputs["metrics"]["error"]["options"] == {"scale": 2.0}
    assert inputs["readiness"] == "rpx-2"


def test_a_function_in_a_file_is_a_model_here_and_in_workers(lab: Lab) -> None:
    (lab.folder / "guess.py").write_text(
        "def guess(sample_id):\n    return float(len(sample_id))\n"
    )
    flags = ("--task", "toy_level", "--model", "guess.py:guess")
    assert lab.rpx(*flags).returncode == 0
    ran = lab.rpx(*flags, "--workers", "2", runs="two")
    assert ran.returncode == 0, ran.stderr
    assert lab.report("two") == lab.report()


def awkward_samples() -> list[dict[str, Any]]:
    return [{"id": name, "level": 1.0 + number} for number, name in enumerate(AWKWARD)]


def test_saved_predictions_scored_again_give_the_same_numbers(lab: Lab) -> None:
    lab.write_manifest([*toy_samples(), *awkward_samples()])
    ran = lab.rpx("--save-predictions")
    assert ran.returncode == 0, ran.stderr
    saved = lab.run_directory() / "predictions"
    assert len(list(saved.iterdir())) == 45 + len(AWKWARD)
    flags = ("--task", "toy_level", "--predictions", str(saved))
    for runs, more in (("one", ()), ("two", ("--workers", "2"))):
        scored = lab.rpx(*flags, *more, verb="score", runs=runs)
        assert scored.returncode == 0, scored.stdout + scored.stderr
        for part in ("numbers", "readiness", "failures"):
            assert lab.report(runs)[part] == lab.report()[part]


def test_predictions_that_are_missing_or_left_over_are_each_named(here: Here) -> None:
    assert here.rpx("--save-predictions").returncode == 0
    saved = here.run_directory() / "predictions"
    (saved / "scene0_clean_0.json").unlink()
    (saved / "scene1_clean_1.json").rename(saved / "scene1_claen_1.json")
    (saved / "notes.txt").write_text("not a prediction")
    ran = here.rpx("--task", "toy_level", "--predictions", str(saved), verb="score", runs="scored")
    assert ran.returncode == 3
    report = here.report("scored")
    assert {(failed["id"], failed["failure"]["stage"]) for failed in report["failures"]} == {
        ("scene0_clean_0", "predict"),
        ("scene1_clean_1", "predict"),
    }
    assert all("no prediction file" in f["failure"]["message"] for f in report["failures"])
    assert report["warnings"] == [
        "1 prediction file belongs to no sample: scene1_claen_1.json; a file is named by the id of "
        "its sample, such as scene0_clean_0.json"
    ]


def test_many_predictions_that_are_missing_or_left_over_are_told_together(here: Here) -> None:
    assert here.rpx("--save-predictions").returncode == 0
    saved = here.run_directory() / "predictions"
    for path in saved.glob("scene1_*.json"):
        path.rename(saved / path.name.replace("scene1", "scene9"))
    arguments = ("--task", "toy_level", "--predictions", str(saved))
    ran = here.rpx(*arguments, verb="score", runs="scored")
    assert ran.returncode == 3
    (failed,) = [line for line in ran.stdout.splitlines() if line.startswith("failed")]
    assert failed.startswith(
        "failed 15 samples: scene1_clean_0, scene1_clean_1, scene1_clean_2 and 12 more (predict"
    )
    assert "(expected scene1_clean_0.json" in failed
    (warning,) = here.report("scored")["warnings"]
    assert warning.startswith(
        "15 prediction files belong to no sample: scene9_clean_0.json, scene9_clean_1.json, "
        "scene9_clean_2.json and 12 more; a file is named by the id of its sample"
    )


def test_a_limit_or_split_leaves_no_prediction_over(here: Here) -> None:
    assert here.rpx("--save-predictions").returncode == 0
    saved = str(here.run_directory() / "predictions")
    for runs, more in (("limit", ("--limit", "3")), ("split", ("--split", "easy"))):
        ran = here.rpx(
            "--task", "toy_level", "--predictions", saved, *more, verb="score", runs=runs
        )
        assert ran.returncode == 0, ran.stderr
        assert here.report(runs)["warnings"] == []


def test_predictions_of_another_program_may_lie_in_folders(here: Here) -> None:
    here.write_manifest([{"id": "a/b", "level": 1.0}, {"id": "c", "level": 2.0}])
    folder = here.folder / "mine"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "b.json").write_text("1.5")
    (folder / "c.json").write_text("2.5")
    ran = here.rpx("--task", "toy_level", "--predictions", str(folder), verb="score")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert here.number("error.abs@sample")["value"] == 0.5
    assert here.report()["warnings"] == []


def test_predictions_are_not_read_before_their_task_is_known(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "readme.txt").write_text("hi")  # what tasks of trajectories take for one
    told = rpx(tmp_path, "score", "--predictions", str(folder), expect=2)["error"]
    assert told["message"].startswith("the data serves ")
    assert told["hint"] == "say with --task which one the predictions are for"


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"NaN", b"\xff\xfe", b'"text"'])
def test_a_prediction_file_that_is_none_is_a_failed_sample(here: Here, content: bytes) -> None:
    here.write_manifest([{"id": "c", "level": 2.0}])
    folder = here.folder / "mine"
    folder.mkdir()
    (folder / "c.json").write_bytes(content)
    ran = here.rpx("--task", "toy_level", "--predictions", str(folder), verb="score")
    assert ran.returncode == 3, ran.stdout + ran.stderr
    failed, *others = here.report()["failures"]
    assert {one["id"] for one in others} <= {"c"}  # each metric may have a reason of its own
    assert failed["failure"]["stage"] in {"predict", "measure"}


def test_a_report_is_rendered_again_without_a_model(here: Here) -> None:
    assert here.rpx().returncode == 0
    directory = here.run_directory()
    before = (directory / "report" / "result.json").read_bytes()
    for file in (directory / "report").iterdir():
        file.unlink()
    ran = here.rpx(str(directory), "--as", "json", verb="report")
    assert ran.returncode == 0, ran.stderr
    assert (directory / "report" / "result.json").read_bytes() == before
    assert [file.name for file in (directory / "report").iterdir()] == ["result.json"]


def test_a_folder_that_is_no_run_is_refused(here: Here) -> None:
    for content in (None, "{}", "not json", '{"schema": "rpx-run-9"}'):
        folder = here.folder / "norun"
        folder.mkdir(exist_ok=True)
        if content is not None:
            (folder / "run.json").write_text(content)
        ran = here.rpx(str(folder), verb="report")
        assert ran.returncode == 2
        assert "Traceback" not in ran.stderr
        assert "norun" in ran.stderr


def test_a_metric_that_was_asked_for_and_has_no_value_is_fatal_when_strict(here: Here) -> None:
    # RW-115: a metric that silently vanished.
    metrics = (
        "--set",
        'metrics.error.name="toy-error"',
        "--set",
        'metrics.void.name="toy-undefined"',
    )
    ran = here.rpx(*metrics)
    assert ran.returncode == 0
    assert "void has no value: " in ran.stdout
    assert here.rpx(*metrics, "--strict").returncode == 3


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_reader_that_goes_away_does_not_change_the_exit_code(
    lab: Lab, arguments: tuple[str, ...]
) -> None:
    failing = ("--model", "toy-noise", *set_options(raises=["scene1_clean_2"]))
    command = shlex.join(lab.command(*arguments, *failing))
    script = f"set -o pipefail; {command} | true"
    ran = subprocess.run(
        ["bash", "-c", script], env=lab.environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 3
    assert "error" not in ran.stderr


def test_a_configuration_file_says_how_predictions_are_scored(here: Here) -> None:
    (here.folder / "scored.toml").write_text('task = "toy_level"\nalign = "shift"\n')
    assert here.rpx("--set", "execution.save_predictions=true").returncode == 0
    (saved,) = here.folder.glob("runs/*/predictions")
    file = str(here.folder / "scored.toml")
    ran = here.rpx(file, "--predictions", str(saved), verb="score", runs="scored")
    assert ran.returncode == 0, ran.stderr
    assert "aligned:" in ran.stdout


def test_every_command_prints_the_paths_of_reports_from_where_it_is_typed(lab: Lab) -> None:
    ran = lab.rpx("--as", "markdown")
    directory = lab.run_directory()
    near = f"runs/{directory.name}/report/summary.md"
    assert f"report: {near}" in ran.stdout.splitlines()
    again = lab.rpx(str(directory.resolve()), "--as", "markdown", verb="report")
    assert near in again.stdout.splitlines()
