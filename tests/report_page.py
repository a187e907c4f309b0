"""A rendered page as a reader, and as a suspicious reader, sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "hr", "input", "rect", "line", "polyline"}


@dataclass
class Page:
    """`tags` are (name, attribute names) in order; `rows` the table rows, cell by cell."""

    tags: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    texts: list[tuple[tuple[str, ...], str]] = field(default_factory=list)

    def text_outside(self, tag: str) -> str:
        """What is read on the page, leaving out one kind of element."""
        return " ".join(
            text for path, text in self.texts if not {tag, "style", "title"} & set(path)
        )


def read_page(content: bytes) -> Page:
    """The page; fails when its tags are not properly nested."""
    parser = _Parser()
    parser.feed(content.decode())
    parser.close()
    assert not parser.path, f"left open: {parser.path}"
    return parser.page


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.path: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.tags.append((tag, tuple(name for name, _ in attrs)))
        self.page.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "tr":
            self.page.rows.append([])
        if tag in {"td", "th"}:
            self.page.rows[-1].append("")
        if tag not in VOID:
            self.path.append(tag)
            self._unseen += self._unseen > 0 or ("class", "unseen") in attrs

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.path.pop() == tag, f"</{tag}> does not close {self.path}"
        self._unseen = max(0, self._unseen - 1)

    def handle_data(self, data: str) -> None:
        self.page.texts.append((tuple(self.path), data))
        if {"td", "th"} & set(self.path) and not self._unseen:
            self.page.rows[-1][-1] = " ".join(f"{self.page.rows[-1][-1]}{data}".split())
