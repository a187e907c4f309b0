"""Prediction folders: which file answers for which sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rpx_core.contracts import Sample
from rpx_core.errors import ModelError
from rpx_core.predictions import PredictionFolder
from tests.toys.engine.toy_engine_task import ToyOptions, ToyTask


class Lists:
    """Files `*.list` of all samples of a scene."""

    def holds(self, name: str, head: bytes) -> bool:
        return name.endswith(".list") and head.startswith(b"[")

    def owner(self, sample: Any) -> str | None:
        return sample.scene

    def read(self, data: bytes, name: str) -> Any:
        return Levels(json.loads(data), name)


class Levels:
    def __init__(self, levels: list[float], name: str) -> None:
        self.levels = levels
        self.owners = (Path(name).stem,)

    def of(self, sample: Sample) -> float:
        assert sample.frame is not None
        return self.levels[sample.frame]


class ListTask(ToyTask):
    suffixes = (".txt", ".list")

    def __init__(self) -> None:
        super().__init__(ToyOptions())
        self.shared = Lists()


def answer(folder: Path, sample: Sample) -> Any:
    (found,) = PredictionFolder(folder, ListTask()).predict([sample])
    return found


def test_a_file_of_many_samples_answers_for_each(tmp_path: Path) -> None:
    (tmp_path / "all.list").write_text("[1.5, 2.5]")
    assert answer(tmp_path, Sample("a", scene="hall", frame=1)) == 2.5


def test_a_file_that_is_named_after_the_owner_comes_first(tmp_path: Path) -> None:
    (tmp_path / "hall.list").write_text("[1.5]")
    (tmp_path / "yard.list").write_text("[2.5]")
    assert answer(tmp_path, Sample("a", scene="yard", frame=0)) == 2.5
    with pytest.raises(ModelError, match=r"hall\.list, yard\.list all hold predictions of many"):
        answer(tmp_path, Sample("a", scene="attic", frame=0))


def test_a_file_of_its_own_is_preferred(tmp_path: Path) -> None:
    (tmp_path / "all.list").write_text("[1.5]")
    (tmp_path / "a.json").write_text("7.5")
    assert answer(tmp_path, Sample("a", scene="hall", frame=0)) == 7.5


def test_files_of_many_samples_belong_to_no_single_one(tmp_path: Path) -> None:
    (tmp_path / "all.list").write_text("[1.5]")
    (tmp_path / "a.list").write_text("7.5")
    folder = PredictionFolder(tmp_path, ListTask())
    assert folder.present(ListTask()) == {"a": "a.list"}
    assert folder.shared == ("all.list",)


def test_two_files_for_one_sample_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("1.5")
    (tmp_path / "a.txt").write_text("2.5")
    with pytest.raises(ModelError, match=r"sample a: a\.json and a\.txt both are"):
        answer(tmp_path, Sample("a"))


def test_a_file_that_changed_since_the_plan_is_refused(tmp_path: Path) -> None:
    (tmp_path / "all.list").write_text("[1.5]")
    digests = PredictionFolder(tmp_path, None).digests()
    (tmp_path / "all.list").write_text("[2.5]")
    with pytest.raises(ModelError, match="has changed since the run began"):
        PredictionFolder(tmp_path, ListTask(), digests).predict([Sample("a", frame=0)])
