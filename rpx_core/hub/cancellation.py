"""Calling threads back at once, even those that wait for a network that says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, get_ident


class CancelledError(Exception):
    """Raised in a thread that has been called back, so that it ends without doing more."""


class Cancellation:
    """Ends the work of several threads, without waiting for those that wait themselves.

    No system call can be taken away from a thread, so what waits for an answer is left behind: it
    ends by its own timeout, and until then touches nothing.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._working: set[int] = set()
        self._is_cancelled = False

    @contextmanager
    def work(self) -> Iterator[None]:
        """Inside, this thread works: `cancel` waits for it."""
        self._begin()
        try:
            yield
        finally:
            self._end()

    @contextmanager
    def wait(self) -> Iterator[None]:
        """Inside, a thread that works waits, and `cancel` does not wait for it.

        Leaving it raises CancelledError where it was called back meanwhile.
        """
        self._end()
        try:
            yield
        finally:
            self._begin()

    def check(self) -> None:
        """Raise CancelledError where this thread has been called back."""
        if self._is_cancelled:
            raise CancelledError

    def cancel(self) -> None:
        """Call all threads back; from here on none of them works any more."""
        with self._changed:
            self._is_cancelled = True
            self._changed.wait_for(lambda: not self._working)

    def _begin(self) -> None:
        with self._changed:
            self.check()
            self._working.add(get_ident())

    def _end(self) -> None:
        with self._changed:
            self._working.discard(get_ident())
            self._changed.notify_all()
