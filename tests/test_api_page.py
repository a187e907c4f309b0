"""The page of the Python API knows every published name, and calls each as it is."""

from __future__ import annotations

import ast
import inspect
import re

import pytest

import rpx_core as rpx
from tests.document_blocks import ROOT, all_blocks

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
NAME = re.compile(r"`(?P<name>\w+)(?P<method>\.\w+)?(?:\((?P<arguments>[^`]*)\))?`")
ARGUMENT = re.compile(r"(?P<name>\*{0,2}\w*)(?P<default>=(?:\([^)]*\)|[^,]*))?(?:, |$)")
TABLES = "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))
CALLS = {
    match["name"] + (match["method"] or ""): match["arguments"]
    for match in NAME.finditer(TABLES)
    if match["arguments"] is not None and match["name"] in rpx.PUBLISHED
}
"""What the page says of how a name is called."""


@pytest.mark.parametrize("name", sorted(rpx.PUBLISHED))
def test_every_published_name_is_on_the_page(name: str) -> None:
    assert name in {match["name"] for match in NAME.finditer(TABLES)}


def names_used(source: str) -> set[str]:
    """Published names that a program reads from `rpx_core`, by whatever name it imports that."""
    found, modules = set(), set()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "rpx_core":
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.Import):
            modules |= {one.asname or one.name for one in node.names if one.name == "rpx_core"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {node.attr} if node.value.id in modules else set()
    return found


def test_every_published_name_is_in_an_example_that_runs() -> None:
    examples = [block.text for block in all_blocks() if block.language == "python"]
    shown = {name for text in examples for name in names_used(text)}
    assert sorted(set(rpx.PUBLISHED) - shown) == []


def test_a_name_in_words_alone_is_no_example() -> None:
    source = "import rpx_core as r\nr.load\nother.Sample\n'rpx.Phase'"
    assert names_used(source) == {"load"}
    assert names_used("from rpx_core import Phase, load as fetch") == {"Phase", "load"}


def test_the_script_of_ten_lines_has_ten_and_is_what_the_wheels_are_tried_with() -> None:
    (script,) = (block.text for block in all_blocks() if block.title == "ten_lines.py")
    assert len([line for line in script.splitlines() if line.strip()]) <= 10
    assert 'TEN_LINES = "ten_lines.py"' in (ROOT / "noxfile.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("call", sorted(CALLS))
def test_names_are_called_as_the_page_says(call: str) -> None:
    name, _, method = call.partition(".")
    pytest.importorskip(rpx.PUBLISHED[name][1].partition(".")[0], exc_type=ModuleNotFoundError)
    value = getattr(rpx, name)
    signature = inspect.signature(getattr(value, method) if method else value)
    said, whole = CALLS[call].removesuffix(", ..."), not CALLS[call].endswith(", ...")
    written = [
        (match["name"], match["default"] is not None)
        for match in ARGUMENT.finditer(said)
        if match["name"]
    ]
    found = describe(signature)
    assert written == (found if whole else found[: len(written)])


def describe(signature: inspect.Signature) -> list[tuple[str, bool]]:
    """Names of the parameters in order, with the star before those by name, and which may go."""
    parts: list[tuple[str, bool]] = []
    for parameter in signature.parameters.values():
        by_name = parameter.kind is parameter.KEYWORD_ONLY
        if by_name and not any(name.startswith("*") for name, _ in parts):
            parts.append(("*", False))
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        parts.append((stars + parameter.name, parameter.default is not parameter.empty))
    return parts
