"""The page of a task tells of every metric that measures it, and of every output by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rpx_core.host import Host
from rpx_core.offers import Offer
from rpx_core.parts import resolve_part
from tests.document_blocks import ROOT

OPTIONS: dict[str, dict[str, Any]] = {
    "detection-per-class": {"classes": ["mug"]},
    # Any file stands for the network: it is read when first needed.
    "nvs-feature-distance": {"network": __file__},
}
"""Options that some metrics must be given."""
PER = {"depth-bins": "range", "detection-per-class": "class"}
"""Metrics whose outputs are named after what their options list: on the page, `absrel_<range>`."""
AS_FOR = {"open_vocab_detection": "object_detection"}
"""Pages that send the reader to another for all of their metrics."""


def metrics() -> Iterator[tuple[str, Offer[Any]]]:
    """The page of each task, or that of stacks, with each metric that measures it."""
    for offer in Host.discover().offers("metric").values():
        for task in offer.spec.tasks:
            yield task.rpartition("/")[2], offer
        if offer.spec.combines:
            yield "stack", offer


def read_page(task: str) -> str:
    """What a reader of the page learns, also where it sends them to another."""
    page = ROOT / "docs" / ("stack.md" if task == "stack" else f"tasks/{task}.md")
    text = page.read_text(encoding="utf-8")
    if task in AS_FOR:
        assert f"[{AS_FOR[task]}]({AS_FOR[task]}.md)" in text
        text += read_page(AS_FOR[task])
    return text


def is_told(output: str, page: str, per: str | None) -> bool:
    """Whether a page has a name as code: itself, or with a placeholder for its end."""
    codes = set(re.findall(r"`([^`\n]+)`", page))
    endings = [match.end() for match in re.finditer("_", output)] if per else []
    return output in codes or any(f"{output[:end]}<{per}>" in codes for end in endings)


@pytest.mark.parametrize(
    ("task", "offer"),
    [pytest.param(task, offer, id=f"{task}-{offer.spec.name}") for task, offer in metrics()],
)
def test_the_page_of_a_task_tells_of_every_metric_and_output(task: str, offer: Offer[Any]) -> None:
    name = offer.spec.name
    metric = resolve_part(offer, OPTIONS.get(name, {}), field_name=name).build()
    page = read_page(task)
    assert f"`{name}`" in page
    assert [one for one in metric.outputs if not is_told(one, page, PER.get(name))] == []


def test_every_task_page_is_of_a_task() -> None:
    tasks = {offer.spec.name for offer in Host.discover().offers("task").values()}
    assert {path.stem for path in Path(ROOT / "docs" / "tasks").glob("*.md")} == tasks


def test_a_name_that_is_only_shortened_is_not_told() -> None:
    page = "`auc5_exact`, … and `ap_<class>`, and rmse in plain words"
    assert is_told("auc5_exact", page, None)
    assert is_told("ap_mug", page, "class")
    assert not is_told("ap_mug", page, None)
    assert not is_told("auc10_exact", page, None)
    assert not is_told("rmse", page, None)
