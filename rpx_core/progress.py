"""What long work tells whoever watches it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Progress(Protocol):
    """One piece of work that is counted: samples of a run, bytes of a download."""

    def begin(self, total: int, done: int) -> None:
        """So many are to be done; so many were done before."""
        ...

    def advance(self, count: int) -> None:
        """So many more are done."""
        ...


class Silent:
    """A progress that nobody watches."""

    def begin(self, total: int, done: int) -> None:
        """Hear nothing."""

    def advance(self, count: int) -> None:
        """Hear nothing."""


Watch = Callable[[str], AbstractContextManager[Progress]]
"""Shows one piece of work under a title for as long as the context is open."""


def watch_nothing(title: str) -> AbstractContextManager[Progress]:
    """Show nothing."""
    return nullcontext(Silent())
