"""Legends of pictures: kept beside them, shown under them, and never a way into the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.contracts import Picture
from rpx_core.legends import Legend, read_legend
from rpx_core.previews import INDEX, WorstKeeper, find_legend, find_pictures
from rpx_core.reporters.pictures import embed
from rpx_core.worst import Candidate

LEGEND = Legend(
    scale=((253, 231, 37), (68, 1, 84)), labels=("0.5 m", "4 m"), keys=(("none", (64, 64, 64)),)
)
SEEN = np.zeros((4, 6, 3), np.uint8)


def keep(folder: Path, *pictures: Picture) -> None:
    keeper = WorstKeeper(folder / "previews", 1, lower_is_better=True)
    keeper.keep(Candidate("a", "a", 1.0), pictures)


def test_a_legend_reads_back_as_it_was_written() -> None:
    assert read_legend(json.loads(json.dumps(LEGEND.to_document()))) == LEGEND


def test_a_picture_is_embedded_with_its_own_legend(tmp_path: Path) -> None:
    keep(tmp_path, Picture("rgb", SEEN), Picture("depth", SEEN, LEGEND))
    found = [embed(*picture, tmp_path).legend for picture in find_pictures(tmp_path, "a")]
    assert found == [None, LEGEND]


@pytest.mark.parametrize(
    "damage",
    [
        {"scale": ["red;background:url(//evil)"]},
        {"scale": [3]},
        {"scale": None},
        {"keys": [["a"]]},
        {"keys": [["a", "#00000g"]]},
        {"labels": 7},
    ],
)
def test_what_is_no_legend_is_not_shown(damage: dict[str, Any]) -> None:
    assert read_legend({**LEGEND.to_document(), **damage}) is None


def test_a_picture_without_an_index_has_no_legend(tmp_path: Path) -> None:
    keep(tmp_path, Picture("depth", SEEN, LEGEND))
    ((_, path),) = find_pictures(tmp_path, "a")
    (tmp_path / path).with_name(INDEX).write_text("[{}]")
    assert find_legend(tmp_path / path) is None
