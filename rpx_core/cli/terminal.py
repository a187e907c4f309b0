"""The console that tables go to."""

from __future__ import annotations

import os
import sys
from typing import Any

from rich.console import Console

from rpx_core.cli.output import drop_stdout

_UNBOUNDED = 10_000
"""Characters of a line that no terminal breaks."""


class Terminal(Console):
    """A console whose reader may go away (`rpx run | head`): what was computed still counts."""

    def __init__(self, **settings: Any) -> None:
        # Files and pipes have no width: what `grep` and `cut` read stays one row a line.
        bound = sys.stdout.isatty() or "COLUMNS" in os.environ
        super().__init__(width=None if bound else _UNBOUNDED, **settings)

    def on_broken_pipe(self) -> None:
        """Print nothing more, and go on to the exit code that the command deserves."""
        self.quiet = True
        drop_stdout()
