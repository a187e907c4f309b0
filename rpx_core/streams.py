"""Standard output while foreign code runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

_STDOUT, _STDERR = 1, 2


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """What is printed goes to stderr, also by native libraries, which print past sys.stdout."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        kept = os.dup(_STDOUT)
    except (OSError, ValueError):
        # A closed or full stream: there is nothing to keep clean.
        with redirect_stdout(sys.stderr):
            yield
        return
    try:
        os.dup2(_STDERR, _STDOUT)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, _STDOUT)
        os.close(kept)
