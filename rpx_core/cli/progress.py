"""A progress bar for long work; nothing where nobody watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rpx_core.progress import Progress, Silent, Watch

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from rpx_core.cli.output import State


@contextmanager
def progress_bar(state: State, title: str) -> Iterator[Progress]:
    """A bar on stderr while a run works; off under `--quiet`, `--json` and in pipes."""
    console = _watched_console(state)
    if console is None:
        yield Silent()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("samples"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        yield _Bar(bars, title)


def watch_downloads(state: State) -> Watch:
    """A bar of bytes for each download, as long as it goes on; off where the other is."""

    @contextmanager
    def watch(title: str) -> Iterator[Progress]:
        console = _watched_console(state)
        if console is None:
            yield Silent()
            return
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )
        from rich.progress import Progress as Bars

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        with Bars(*columns, console=console, transient=True) as bars:
            # Without a total yet: it moves until one is known, or somebody else is done.
            yield _Bar(bars, title, bars.add_task(title, total=None))

    return watch


def _watched_console(state: State) -> Console | None:
    """The terminal on stderr, unless nobody watches it."""
    from rich.console import Console

    console = Console(stderr=True)
    silent = state.quiet or state.as_json or not console.is_terminal
    return None if silent else console


class _Bar:
    def __init__(self, bars: Bars, title: str, task: TaskID | None = None) -> None:
        self._bars = bars
        self._title = title
        self._task = task

    def begin(self, total: int, done: int) -> None:
        if self._task is None:
            self._task = self._bars.add_task(self._title, total=total, completed=done)
        else:
            self._bars.update(self._task, total=total, completed=done)

    def advance(self, count: int) -> None:
        if self._task is not None:
            self._bars.advance(self._task, count)
