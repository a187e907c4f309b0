"""Telling Ctrl-C from a KeyboardInterrupt that foreign code raised."""

from __future__ import annotations

import signal
import threading
from types import FrameType

_seen = threading.Event()
_watching = threading.Event()


def watch_interrupts() -> None:
    """From now on, know whether somebody pressed Ctrl-C; the main thread of a command calls this.

    A program that uses rpx as a library keeps its own handler: every KeyboardInterrupt is real.
    """
    _watching.set()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def is_interrupt(error: BaseException) -> bool:
    """Whether the error is the user's Ctrl-C rather than something that foreign code raised."""
    return isinstance(error, KeyboardInterrupt) and (_seen.is_set() or not _watching.is_set())


def _interrupt(number: int, frame: FrameType | None) -> None:
    _seen.set()
    signal.default_int_handler(number, frame)
