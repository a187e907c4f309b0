"""The fenced blocks of the documentation, and which tests take which of them.

`test_documents_run.py` runs or checks every block that no other test takes. A test that takes some
keeps them in a constant of its module, `HOOKS = take("docs/plugins.md", "python", "rpx_tasks")`;
`others_take` finds these constants.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType

ROOT = Path(__file__).parents[1]
PAGES = (
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "plugins").glob("*/README.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
)
TAKERS = (
    "tests.test_examples",
    "tests.test_plugin_guide",
    "tests.models.test_models_page",
    "tests.models.test_profiling_docs",
)
"""Modules of tests that take blocks; all import without torch, some run with it alone."""
_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """One fenced block: where it is, its language, the file to save it as, its text."""

    page: str
    line: int
    language: str
    title: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """What is typed, of a block that shows a terminal."""
        text = self.text.replace("\\\n", " ")
        return [line[2:] for line in text.splitlines() if line.startswith("$ ")]


@dataclass(frozen=True)
class Taken:
    """Blocks that a test takes."""

    blocks: tuple[Block, ...]

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    @property
    def texts(self) -> list[str]:
        """Their texts, in order."""
        return [block.text for block in self.blocks]


@cache
def read_blocks(page: Path) -> tuple[Block, ...]:
    """The blocks of a page, in order."""
    return tuple(parse_blocks(page.read_text(encoding="utf-8"), name_of(page)))


def parse_blocks(text: str, page: str) -> Iterator[Block]:
    """The blocks of a page's text, in order."""
    for match in _BLOCK.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        title = re.search(r'title="([^"]+)"', rest)
        line = text.count("\n", 0, match.start()) + 1
        yield Block(page, line, language, title[1] if title else None, match["text"])


def name_of(page: Path) -> str:
    """The page as the repository names it."""
    return page.relative_to(ROOT).as_posix()


def all_blocks() -> list[Block]:
    """The blocks of all pages."""
    return [block for page in PAGES for block in read_blocks(page)]


def take(page: str, language: str, containing: str = "") -> Taken:
    """The blocks of a page in a language, those with some words in them; there must be one."""
    found = tuple(
        block
        for block in read_blocks(ROOT / page)
        if block.language == language and containing in block.text
    )
    assert found, f"{page} has no {language} block with {containing!r}"
    return Taken(found)


@cache
def others_take() -> frozenset[Block]:
    """Every block that a test outside of `test_documents_run.py` takes, and uses."""
    found: set[Block] = set()
    for name in TAKERS:
        module = import_module(name)
        tests = [
            inspect.getsource(value)
            for key, value in vars(module).items()
            if key.startswith("test_") and isinstance(value, FunctionType)
        ]
        for key, value in vars(module).items():
            if isinstance(value, Taken):
                assert any(re.search(rf"\b{key}\b", test) for test in tests), f"{name}.{key}: idle"
                found |= set(value.blocks)
    return frozenset(found)
