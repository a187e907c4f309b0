"""The page of the Python API knows every published name, and calls each as it is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import rpx_core as rpx

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
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
