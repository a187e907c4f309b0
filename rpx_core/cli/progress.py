"""A progress bar for long work; nothing where nobody watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rpx_core.cli.output import State
from rpx_core.run import Progress, Silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


@contextmanager
def progress_bar(state: State, title: str) -> Iterator[Progress]:
    """A bar on stderr while a run works; off under `--quiet`, `--json` and in pipes."""
    from rich.console import Console

    console = Console(stderr=True)
    if state.quiet or state.as_json or not console.is_terminal:
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


class _Bar:
    def __init__(self, bars: Bars, title: str) -> None:
        self._bars = bars
        self._title = title
        self._task: TaskID | None = None

    def begin(self, total: int, done: int) -> None:
        self._task = self._bars.add_task(self._title, total=total, completed=done)

    def advance(self, samples: int) -> None:
        if self._task is not None:
            self._bars.advance(self._task, samples)
