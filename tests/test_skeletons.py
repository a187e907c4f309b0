"""`rpx new`: what it writes is whole, keeps every contract, and overwrites nothing."""

from __future__ import annotations

import ast
import os
import tomllib
from pathlib import Path

import pytest

from rpx_core.cli import invoke
from rpx_core.cli.new import KINDS as OFFERED
from rpx_core.conformance.package import open_package
from rpx_core.conformance.suite import check_package
from rpx_core.errors import ConfigError
from rpx_core.skeletons.catalogue import KINDS
from rpx_core.skeletons.writer import LONGEST_NAME, write_skeleton
from tests.toys.site import importable

EVERY = [(kind, task) for kind, one in KINDS.items() for task in one.tasks or (None,)]
IDS = [f"{kind}-{task}" if task else kind for kind, task in EVERY]


def written(folder: Path) -> list[str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(file.relative_to(folder).as_posix() for file in files)


@pytest.mark.parametrize(("kind", "task"), EVERY, ids=IDS)
def test_what_is_written_keeps_every_contract(tmp_path, kind, task):
    name = f"kept-{kind}-{(task or 'any').replace('_', '-')}"[:LONGEST_NAME]
    folder = write_skeleton(kind, name, tmp_path, task=task)
    with importable(folder):
        found = check_package(open_package(folder))
    assert [o for o in found.outcomes if o.is_fatal] == []
    assert found.passes
    assert len(found.outcomes) >= 10


@pytest.mark.parametrize(("kind", "task"), EVERY, ids=IDS)
def test_every_file_is_tidy(tmp_path, kind, task):
    folder = write_skeleton(kind, "x" * LONGEST_NAME, tmp_path, task=task)
    for name in written(folder):
        text = (folder / name).read_text(encoding="utf-8")
        assert "<<" not in text, name
        assert "<%" not in text, name
        assert text == "" or (text.endswith("\n") and not text.endswith("\n\n")), name
        assert all(line == line.rstrip() for line in text.splitlines()), name
        # A name cannot be broken, and may be part of a long command in the README.
        long = [line for line in text.splitlines() if len(line) > 100 and " " in line.strip()]
        assert long == [] or name == "README.md", name
        if name.endswith(".py"):
            assert ast.get_docstring(ast.parse(text)), name


def test_only_a_metric_says_that_it_replaces_the_tasks_own(tmp_path):
    for kind in ("metric", "model"):
        readme = write_skeleton(kind, f"my-{kind}", tmp_path) / "README.md"
        says = "replace the task's own" in readme.read_text(encoding="utf-8")
        assert says == (kind == "metric")


def test_a_package_has_all_that_a_package_needs(tmp_path):
    folder = write_skeleton("model", "my-model", tmp_path)
    assert folder == tmp_path / "rpx-my-model"
    assert written(folder) == [
        ".github/workflows/tests.yml",
        ".gitignore",
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "rpx_my_model/__init__.py",
        "rpx_my_model/model.py",
        "rpx_my_model/plugin.py",
        "rpx_my_model/py.typed",
        "tests/conftest.py",
        "tests/test_conformance.py",
        "tests/test_model.py",
    ]
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"] == {"rpx": {"my-model": "rpx_my_model.plugin"}}
    assert {"rpx-core>=0.1,<0.2", "rpx-depth>=0.1,<0.2"} <= set(project["dependencies"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("My-Model", "is not allowed"),
        ("my_model", "is not allowed"),
        ("../climb", "is not allowed"),
        ("a" * (LONGEST_NAME + 1), "is not allowed"),
        ("2fast", "is not allowed"),
        ("two--hyphens", "is not allowed"),
        ("", "is not allowed"),
        ("rpx-model", "rpx- comes by itself"),
        ("depth", "rpx-depth exists"),
        ("core", "rpx-core exists"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused(tmp_path, name, words):
    with pytest.raises(ConfigError, match=words):
        write_skeleton("model", name, tmp_path)
    assert written(tmp_path) == []


def test_a_well_known_task_is_not_made_again(tmp_path):
    with pytest.raises(ConfigError, match="monocular_depth exists"):
        write_skeleton("task", "monocular-depth", tmp_path)


def test_a_task_without_a_skeleton_names_those_that_have_one(tmp_path):
    with pytest.raises(ConfigError, match="no skeleton of a metric for trajectory") as refused:
        write_skeleton("metric", "mine", tmp_path, task="trajectory")
    assert "monocular_depth, object_segmentation" in str(refused.value)
    with pytest.raises(ConfigError, match="not for one task"):
        write_skeleton("reporter", "mine", tmp_path, task="monocular_depth")


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "rpx-mine").mkdir()
    (tmp_path / "rpx-mine" / "work.py").write_text("years = 3\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="exists already"):
        write_skeleton("model", "mine", tmp_path)
    assert written(tmp_path) == ["rpx-mine/work.py"]


def test_a_folder_that_cannot_be_written_is_said_and_nothing_is_left(tmp_path, monkeypatch):
    def refuse(self: Path, target: Path) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(ConfigError, match="No space left"):
        write_skeleton("model", "mine", tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


def test_the_command_says_what_to_do_next(tmp_path, capsys):
    assert invoke(["new", "reporter", "mine", "--output", str(tmp_path)]) == 0
    assert f"rpx check {tmp_path / 'rpx-mine'}" in capsys.readouterr().out
    assert invoke(["new", "reporter", "mine", "--output", str(tmp_path)]) == 2
    assert "nothing is overwritten" in capsys.readouterr().err


def test_the_command_offers_every_kind():
    assert set(OFFERED) == set(KINDS)
