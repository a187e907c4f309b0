"""What plugin authors test with: fixtures, and the command that asks the same questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rpx_core.cli import invoke
from rpx_core.config import build_config
from rpx_core.errors import ConfigError
from rpx_core.host import Host
from rpx_core.resolution import resolve
from rpx_core.testing import ConformanceError, conformance
from tests.toys.site import ToySite, importable

MODEL = '''
from rpx_core.hookspecs import hookimpl
from rpx_core.specs import ModelSpec


@hookimpl
def rpx_models():
    return [
        ModelSpec(name="{name}", summary="A toy.", tasks=("monocular_depth",), {more})
        for _ in range(1)
    ]


class Drifting:
    """Answers another depth each time it is asked."""

    task = "monocular_depth"

    def __init__(self):
        self.asked = 0

    def setup(self):
        pass

    def predict(self, batch):
        import numpy as np

        self.asked += 1
        return [np.full(one.rgb.shape[:2], self.asked, np.float32) for one in batch]


def load(options, runtime):
    """A model."""
    return Drifting()
'''


def write_package(folder: Path, name: str, **more: object) -> Path:
    """The folder of a package with one model."""
    module = f"rpx_{name}"
    fields = {"target": f"{module}:load", **more}
    text = ", ".join(f"{key}={value!r}" for key, value in fields.items())
    (folder / f"{module}.py").write_text(MODEL.format(name=name, more=text), encoding="utf-8")
    project = (
        f'[project]\nname = "rpx-{name}"\nversion = "1"\ndependencies = ["rpx-core>=0.1,<0.2"]\n'
        f'[project.entry-points.rpx]\n{name} = "{module}"\n'
    )
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    return folder


def test_the_command_fails_with_what_is_broken(tmp_path, capsys):
    folder = write_package(tmp_path, "drifting")
    with importable(folder):
        assert invoke(["check", str(folder)]) == 4
    said = " ".join(capsys.readouterr().out.split())
    assert "FAILED: model drifting: predictions do not depend on the batch" in said
    assert "FAILED: model drifting: it has no memory, or reset() clears it" in said
    assert "the package does not pass" in said


def test_the_command_counts_and_explains_as_json(tmp_path, capsys):
    folder = write_package(tmp_path, "counted")
    with importable(folder):
        assert invoke(["check", str(folder), "--skip", "counted=drifts by design", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["passes"]
    assert document["checks"] == document["passed"] + document["skipped"] == 16
    details = {o["detail"] for o in document["outcomes"] if o["verdict"] == "skipped"}
    assert "drifts by design" in details


def test_a_missing_extra_is_only_accepted_when_asked(tmp_path, capsys):
    folder = write_package(tmp_path, "extra", extra="gpu", modules=("no_such_module",))
    with importable(folder):
        assert invoke(["check", str(folder)]) == 4
        assert "pip install 'rpx-extra[gpu]'" in capsys.readouterr().out
        assert invoke(["check", str(folder), "--allow-missing-extras"]) == 0
        assert "[accepted]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        (("--skip", "model"), "NAME=REASON was expected"),
        (("--skip", "model="), "NAME=REASON was expected"),
        (("--set", "a=1"), "NAME.OPTION=VALUE was expected"),
    ],
)
def test_a_skip_without_a_reason_is_refused(capsys, flag, words):
    assert invoke(["check", "rpx-core", *flag]) == 2
    assert words in capsys.readouterr().err


def test_each_check_is_a_test_that_fails_by_itself(tmp_path):
    folder = write_package(tmp_path, "single")
    with importable(folder):
        checks = {str(check): check for check in conformance(folder)}
        checks["model single: one valid prediction per sample"]()
        with pytest.raises(ConformanceError, match="asked again in another order"):
            checks["model single: it has no memory, or reset() clears it"]()


def test_samples_are_loaded_by_the_installed_task(rpx_samples):
    samples = rpx_samples("monocular_depth", options={"max_depth": 1.5})
    assert len(samples) == 6
    assert all(0 < one.ground_truth.depth_map.max() <= 1.5 for one in samples)


def test_commands_run_in_this_process(rpx_command, rpx_demo):
    data = ("--task", "monocular_depth", "--data", str(rpx_demo), "--limit", "2")
    (run,) = rpx_command("run", *data)["runs"]
    assert run["status"]["evaluated_samples"] == 2
    refused = rpx_command("run", "--model", "no-such-model", *data, expect=2)
    assert "no-such-model" in refused["error"]["message"]


def test_a_metric_whose_extra_is_missing_is_refused_before_anything_runs(tmp_path):
    source = """
        @hookimpl
        def rpx_metrics():
            spec = metric("costly")
            return [MetricSpec(**{**vars(spec), "extra": "gpu", "modules": ("no_such_module",)})]
    """
    with importable(tmp_path):
        ToySite(tmp_path, core=None).plugin("rpx-costly", source)
        host = Host.discover()
        layer = {"task": "monocular_depth", "metrics": {"own": "costly"}}
        with pytest.raises(ConfigError, match=r"rpx-costly/costly needs no_such_module") as refused:
            resolve(build_config(layer, source="test"), host, protocol=None, model=None)
    assert "rpx-costly[gpu]" in str(refused.value)
