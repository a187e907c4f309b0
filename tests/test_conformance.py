"""The checks find what is wrong: for each law, something that breaks it and nothing else."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rpx_core.conformance import child
from rpx_core.conformance.bench import Settings, require_modules
from rpx_core.conformance.child import Assignment, check_apart
from rpx_core.conformance.compare import Tolerance, difference, fingerprint
from rpx_core.conformance.entry import EntryModule, check_requires
from rpx_core.conformance.laws import (
    Check,
    Excuses,
    MissingExtraError,
    NotCheckedError,
    Outcome,
    Verdict,
    perform,
)
from rpx_core.conformance.messages import read_message, write_message
from rpx_core.conformance.package import Package, open_package
from rpx_core.conformance.suite import Conformance, check_options
from rpx_core.contracts import Frame, Output, Sample, Undefined, Unit
from rpx_core.errors import (
    ConfigError,
    ExitCode,
    ModelError,
    PluginError,
    RPXError,
    TruthWithheldError,
)
from rpx_core.offers import Offer
from rpx_core.report import Results
from rpx_core.reporters.result_json import render as render_json
from rpx_core.skeletons.writer import write_skeleton
from rpx_core.specs import ModelSpec
from rpx_core.state import Cat, Sum
from rpx_core.testing import (
    ConformanceError,
    check_metric,
    check_model,
    check_reporter,
    null_results,
    sample_results,
)

IMAGE = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


def sample(number: int) -> Sample:
    """A sample whose truth is its number."""
    image = IMAGE + np.uint8(number)
    return Sample(f"s{number}", image, np.array([float(number)]), sequence="s", frame=number)


SAMPLES = [sample(number) for number in range(4)]


@dataclass(frozen=True)
class Sums:
    samples: Sum
    error: Sum


class Error:
    """A metric that keeps every law; each broken one is this with one thing changed."""

    version = "1"
    unit = Unit.SAMPLE
    State: type = Sums
    outputs: Mapping[str, Output] = {"error": Output("lower", best=0.0)}  # a toy

    def measure(self, sample: Sample, truth: Any, prediction: Any) -> Any:
        return Sums(1, float(np.abs(truth - prediction).sum()))

    def result(self, state: Any) -> dict[str, float | None]:
        return {"error": float(state.error) / int(state.samples)}


class Silent(Error):
    version = ""


class Misdeclared(Error):
    outputs = {"error": Output("lower", best=1.0, worst=0.0)}  # noqa: RUF012  # a toy


class OutOfRange(Error):
    outputs = {"error": Output("lower", best=0.0, worst=0.1)}  # noqa: RUF012  # a toy


class NotANumber(Error):
    def result(self, state: Any) -> dict[str, float | None]:
        return {"error": float("nan")}


class Scribbling(Error):
    def measure(self, sample: Sample, truth: Any, prediction: Any) -> Any:
        state = super().measure(sample, truth, prediction)
        truth += 1
        return state


class Remembering(Error):
    def __init__(self) -> None:
        self.seen = 0

    def measure(self, sample: Sample, truth: Any, prediction: Any) -> Any:
        self.seen += 1
        return Sums(1, float(self.seen))


class Imperfect(Error):
    def result(self, state: Any) -> dict[str, float | None]:
        return {"error": float(state.error) / int(state.samples) + 0.5}


@dataclass(frozen=True)
class Listed:
    values: Cat


class OrderBound(Error):
    """The first of what is joined."""

    State = Listed

    def measure(self, sample: Sample, truth: Any, prediction: Any) -> Any:
        return Listed(np.abs(truth - prediction))

    def result(self, state: Any) -> dict[str, float | None]:
        return {"error": float(state.values[0])}


class BlockBound(Error):
    """Says of each sample what is true of its block."""

    def measure_block(self, frames: Sequence[Frame]) -> Any:
        whole = sum(float(self.measure(*frame).error) for frame in frames)
        return [Sums(1, whole) for _ in frames]


def frames_of(error: float) -> list[list[Frame]]:
    return [
        [Frame(one, one.ground_truth.copy(), one.ground_truth + error * (1 + n))]
        for n, one in enumerate(SAMPLES)
    ] + [[Frame(one, one.ground_truth.copy(), one.ground_truth + 3 * error) for one in SAMPLES]]


def test_a_metric_that_keeps_every_law_passes():
    check_metric(Error(), frames_of(0.5), perfect=frames_of(0))


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (Silent, "`version` must be"),
        (Misdeclared, "lower is better, but best is 1.0"),
        (OutOfRange, "outside its declared range"),
        (NotANumber, "error is nan"),
        (Scribbling, "changes what it is given"),
        (Remembering, "measured twice"),
        (Imperfect, "where the truth itself is the prediction"),
        (OrderBound, "depends on the order"),
        (BlockBound, "measure_block"),
    ],
)
def test_a_metric_that_breaks_a_law_is_found(metric, words):
    with pytest.raises(Exception, match=words):
        check_metric(metric(), frames_of(0.5), perfect=frames_of(0))


class InBlocks(Error):
    def measure_block(self, frames: Sequence[Frame]) -> Any:
        return [self.measure(*frame) for frame in frames]


def test_blocks_that_say_what_single_samples_say_pass():
    check_metric(InBlocks(), frames_of(0.5), perfect=frames_of(0))


def test_a_best_that_the_truth_does_not_attain_may_be_declared():
    metric = Imperfect()
    metric.outputs = {"error": replace(Error.outputs["error"], attained=False)}
    check_metric(metric, frames_of(0.5), perfect=frames_of(0))


class Good:
    """A model that keeps every law."""

    task = "toy"

    def setup(self) -> None: ...

    def predict(self, batch: Sequence[Sample]) -> list[Any]:
        return [np.float64(one.rgb.mean()) for one in batch]


class TooFew(Good):
    def predict(self, batch: Sequence[Sample]) -> list[Any]:
        return super().predict(batch)[1:]


class Peeking(Good):
    """Reads the truth where it can, and hides that it cannot."""

    def predict(self, batch: Sequence[Sample]) -> list[Any]:
        for one in batch:
            try:
                _ = one.ground_truth
            except TruthWithheldError:
                continue
        return super().predict(batch)


class Writing(Good):
    def predict(self, batch: Sequence[Sample]) -> list[Any]:
        for one in batch:
            one.rgb[0, 0, 0] = 7
        return super().predict(batch)


class Batching(Good):
    def predict(self, batch: Sequence[Sample]) -> list[Any]:
        return [answer + len(batch) for answer in super().predict(batch)]


class Forgetful(Good):
    """Has memory and no `reset`."""

    def __init__(self) -> None:
        self.last = 0.0

    def predict(self, batch: Sequence[Sample]) -> list[Any]:
        answers = []
        for answer in super().predict(batch):
            answers.append(answer + self.last)
            self.last = float(answer)
        return answers


class Unreset(Forgetful):
    """Its `reset` does nothing."""

    def reset(self) -> None: ...


class Resetting(Forgetful):
    def reset(self) -> None:
        self.last = 0.0


class Drawing(Good):
    def __init__(self) -> None:
        self.noise = float(np.random.default_rng().normal())

    def predict(self, batch: Sequence[Sample]) -> list[Any]:
        return [answer + self.noise for answer in super().predict(batch)]


def accept(prediction: Any, sample: Sample) -> Any:
    return prediction


@pytest.mark.parametrize("model", [Good, Resetting])
def test_a_model_that_keeps_every_law_passes(model):
    check_model(model, [SAMPLES[:2], SAMPLES[2:]], accept)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (TooFew, "predictions for 1 samples"),
        (Peeking, "reads the ground truth of sample s0"),
        (Writing, "read-only"),
        (Batching, "batched with others"),
        (Forgetful, "batched with others|no reset"),
        (Unreset, "batched with others|after reset"),
        (Drawing, "from the same seed"),
    ],
)
def test_a_model_that_breaks_a_law_is_found(model, words):
    with pytest.raises((ConformanceError, ModelError, ValueError), match=words):
        check_model(model, [SAMPLES[:2], SAMPLES[2:]], accept)


def test_a_reporter_that_keeps_every_law_passes():
    check_reporter(render_json)


def pass_markup_on(results: Results) -> dict[str, bytes]:
    return {"a.html": f"<p>{results.report.run.model}</p>".encode()}


def climb(results: Results) -> dict[str, bytes]:
    return {"../a.txt": b""}


def trip_over_nulls(results: Results) -> dict[str, bytes]:
    return {"a.txt": b"".join(b"%.2f" % number.value for number in results.report.numbers)}


def return_text(results: Results) -> dict[str, str]:
    return {"a.txt": "text"}


def write_nan(results: Results) -> dict[str, bytes]:
    return {"a.json": b'{"value": NaN}'}


@pytest.mark.parametrize(
    ("render", "words"),
    [
        (pass_markup_on, "passes the markup"),
        (climb, "no file name"),
        (trip_over_nulls, "NoneType|real number|required"),
        (return_text, "bytes were expected"),
        (write_nan, "holds NaN"),
    ],
)
def test_a_reporter_that_breaks_a_law_is_found(render, words):
    with pytest.raises((ConformanceError, TypeError, Exception), match=words):
        check_reporter(render)


def test_results_for_reporters_have_every_kind_of_null():
    numbers = sample_results().report.numbers
    assert {number.reason for number in numbers} >= {None, "infinite"}
    assert all(number.value is None for number in null_results().report.numbers)
    assert len(sample_results(rows=1000).rows) == 1000


def raising(error: Exception) -> Any:
    def run() -> None:
        raise error

    return run


def test_outcomes_of_checks():
    checks = [
        Check("a", "good", lambda: None),
        Check("a", "broken", raising(ValueError("boom"))),
        Check("b", "gate", raising(NotCheckedError("no data")), gate=True),
        Check("b", "behind", lambda: None),
        Check("c", "extra", raising(MissingExtraError("no torch"))),
        Check("d", "skipped", raising(ValueError("never run"))),
        Check("d", "basic", raising(ValueError("always run")), basic=True),
    ]
    found = list(perform(checks, Excuses(missing_extras=True, skip={"d": "needs weights"})))
    assert [(o.verdict, o.is_fatal) for o in found] == [
        (Verdict.PASSED, False),
        (Verdict.FAILED, True),
        (Verdict.SKIPPED, True),
        (Verdict.SKIPPED, False),
        (Verdict.SKIPPED, False),
        (Verdict.SKIPPED, False),
        (Verdict.FAILED, True),
    ]
    assert found[1].detail == "ValueError: boom", "its law is said before it"
    assert found[5].detail == "needs weights"
    (strict,) = perform(checks[4:5], Excuses())
    assert strict.is_fatal


def test_a_problem_does_not_say_again_whose_it_is():
    error = PluginError("metric mine: its version is not a text")
    (found,) = perform([Check("metric mine", "it can be built", raising(error))], Excuses())
    assert found.detail == "its version is not a text"


@pytest.mark.parametrize(
    ("source", "law", "words"),
    [
        ("print('hello')", "check_silent", "prints 'hello"),
        ("import numpy", "check_light", "imports numpy"),
        ("import time\ntime.sleep(0.3)", "check_quick", "ms; 100 are allowed"),
        ("raise RuntimeError('no driver')", "check_silent", "no driver"),
    ],
)
def test_an_entry_module_that_costs_something_is_found(tmp_path, source, law, words):
    (tmp_path / "rpx_costly.py").write_text(source, encoding="utf-8")
    with pytest.raises(ConformanceError, match=words):
        getattr(EntryModule("rpx_costly", tmp_path), law)()


@pytest.mark.parametrize(
    ("requirements", "words"),
    [
        ((), "does not depend on rpx-core"),
        (("numpy>=1.26",), "does not depend on rpx-core"),
        (("rpx-core",), "leaves rpx-core open"),
        (("rpx_core>=0.1",), "leaves rpx-core open"),
    ],
)
def test_a_package_says_which_core_it_works_with(requirements, words):
    with pytest.raises(ConformanceError, match=words):
        check_requires(Package("rpx-a", (), requirements))


@pytest.mark.parametrize("line", ["rpx-core>=0.1,<0.2", "rpx-core~=0.1.0", "rpx-core==0.1.0"])
def test_a_bounded_core_is_accepted(line):
    check_requires(Package("rpx-a", (), ("numpy", line)))


def test_what_is_no_package_is_said(tmp_path):
    with pytest.raises(ConfigError, match="no installed plugin"):
        open_package("rpx-nowhere")
    with pytest.raises(ConfigError, match=r"no pyproject\.toml"):
        open_package(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="declares no plugin"):
        open_package(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not TOML"):
        open_package(tmp_path)
    for wrong in ("entry-points = 5", "dependencies = 5", "entry-points = { rpx = [1] }"):
        (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "a"\n{wrong}\n')
        with pytest.raises(ConfigError, match="must be a table, and"):
            open_package(tmp_path)


@pytest.mark.parametrize("ending", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_a_package_cannot_end_its_own_check(tmp_path, ending):
    (tmp_path / "quits.py").write_text(f"import os\n{ending}\n")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "rpx-quits"\nversion = "1"\n\n'
        '[project.entry-points.rpx]\nquits = "quits"\n'
    )
    with pytest.raises(PluginError, match="ended the process that checked it"):
        check_apart(Assignment(str(tmp_path), Settings(), Excuses()))


def test_an_unforeseen_error_of_a_check_comes_home_as_it_is(monkeypatch):
    monkeypatch.setattr(child, "check_package", lambda *_: 1 // 0)
    told = write_message(child.conduct(Assignment("rpx-depth", Settings(), Excuses())))
    error = read_message(told, "rpx-depth")
    assert (type(error), error.exit_code) == (RPXError, ExitCode.INTERNAL)
    assert "checking rpx-depth failed" in error.message
    assert "ZeroDivisionError" in error.message


def test_outcomes_come_home_as_they_were():
    outcomes = [
        Outcome("model a", "law", Verdict.FAILED, "why \ud800", traceback="line\nline"),
        Outcome("model b", "law", Verdict.SKIPPED, "not asked", excused=True, follows=True),
    ]
    found = read_message(write_message(Conformance("rpx-a", outcomes)), "rpx-a")
    assert isinstance(found, Conformance)
    assert found.outcomes == [replace(outcomes[0], detail="why \\ud800"), outcomes[1]]
    error = read_message(write_message(ConfigError("m", hint="h", details={"a": 1})), "rpx-a")
    assert (type(error), str(error), error.details) == (ConfigError, "m\n  hint: h", {"a": 1})


@pytest.mark.parametrize(
    "sent",
    [
        pickle.dumps(Conformance("rpx-a", [])),
        b"{}",
        b"[]",
        b'{"found": null, "error": null}',
        b'{"found": {"distribution": "rpx-a", "outcomes": [{"subject": "a"}]}, "error": null}',
        b'{"found": {"distribution": "rpx-a", "outcomes": []}, "error": null, "more": 1}',
        b'{"found": null, "error": {"kind": "Path", "message": "", "hint": null, "details": {}}}',
    ],
)
def test_what_is_no_message_of_the_checks_is_refused_and_not_executed(sent):
    with pytest.raises(PluginError, match=r"the check of rpx-a sent|that checked rpx-a sent"):
        read_message(sent, "rpx-a")


def test_an_interrupt_that_a_package_raises_is_a_failed_check(tmp_path):
    folder = write_skeleton("model", "evil", tmp_path)
    (folder / "rpx_evil" / "model.py").write_text("raise KeyboardInterrupt\n")
    done = run_rpx("check", str(folder))
    assert done.returncode == ExitCode.PLUGIN
    assert "KeyboardInterrupt" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_the_reasons_of_a_package_do_not_steer_the_terminal(tmp_path):
    folder = write_skeleton("model", "evil", tmp_path)
    reason = '[skip]\nevil = "\\u001b]0;owned\\u0007"\n'
    (folder / "rpx_evil" / "conformance.toml").write_text(reason)
    done = run_rpx("check", str(folder))
    assert "\\u001b]0;owned" in done.stdout
    assert "\x1b" not in done.stdout


def run_rpx(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rpx_core.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_options_that_accept_what_they_do_not_know_are_found(tmp_path, monkeypatch):
    code = (
        "from pydantic import BaseModel\n\n\nclass Loose(BaseModel, frozen=True):\n    a: int = 1\n"
    )
    (tmp_path / "loose_options.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConformanceError, match="accept what they do not know"):
        check_options("loose_options:Loose", "a")


def test_differences_are_located():
    one = {"a": [SimpleNamespace(x=np.zeros(3), y="t")]}
    other = {"a": [SimpleNamespace(x=np.array([0, 0, 1e-3]), y="t")]}
    assert difference(one, one) is None
    assert difference(one, other, Tolerance(absolute=1e-2)) is None
    assert difference(one, other) == "['a'][0].x differs in 1 of 3 entries, by up to 0.001"
    assert "is only in the second" in str(difference({}, {"b": 1}))
    assert difference(1, True) is None
    assert "dtype" not in str(difference(np.zeros(2), np.zeros(2, np.float32)))
    assert fingerprint(one) != fingerprint(other)


def test_undefined_evidence_is_no_state():
    class Never(Error):
        def measure(self, sample: Sample, truth: Any, prediction: Any) -> Any:
            return Undefined("no evidence")

    check_metric(Never(), frames_of(0.5))


def test_importing_the_pytest_plugin_imports_nothing_heavy():
    from rpx_core.testing import heavy_imports

    assert heavy_imports("import rpx_core.testing") == set()
    assert heavy_imports("import rpx_core.conformance.laws") == set()


@pytest.mark.parametrize(
    ("spec", "command"),
    [
        ({"install": "pip install 'net @ git+https://example.org'"}, "pip install 'net @ git+"),
        ({"extra": "hf"}, "pip install 'rpx-toy[hf]', or"),
        ({}, "pip install 'nowhere', or"),
    ],
)
def test_a_missing_library_is_told_with_the_command_of_its_spec(
    spec: dict[str, str], command: str
) -> None:
    made = ModelSpec(
        name="net", summary="A net.", target="a:b", tasks=("t",), modules=("nowhere",), **spec
    )
    with pytest.raises(MissingExtraError) as caught:
        require_modules(Offer(made, "rpx-toy", "1"))
    assert str(caught.value.hint).startswith(command)
    assert "--allow-missing-extras" in str(caught.value.hint)
