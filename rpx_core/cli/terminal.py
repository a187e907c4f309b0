"""The console that tables go to."""

from __future__ import annotations

from rich.console import Console

from rpx_core.cli.output import drop_stdout


class Terminal(Console):
    """A console whose reader may go away (`rpx run | head`): what was computed still counts."""

    def on_broken_pipe(self) -> None:
        """Print nothing more, and go on to the exit code that the command deserves."""
        self.quiet = True
        drop_stdout()
