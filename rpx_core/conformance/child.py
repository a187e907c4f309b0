"""Checking a package in a process of its own, so that its code can end no more than that.

The checks find mistakes. Code that runs in the same process as they do, and that sets out to
deceive, can make up any verdict: whom one does not trust, one does not install.
"""

from __future__ import annotations

import multiprocessing
import signal
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection

from rpx_core.conformance.bench import Settings
from rpx_core.conformance.laws import Excuses
from rpx_core.conformance.messages import read_message, write_message
from rpx_core.conformance.package import open_package
from rpx_core.conformance.suite import Conformance, check_package
from rpx_core.errors import PluginError, RPXError, last_words
from rpx_core.interrupts import watch_interrupts
from rpx_core.streams import stdout_to_stderr


@dataclass(frozen=True)
class Assignment:
    """What is checked, with what, and which skips are accepted."""

    package: str
    settings: Settings
    excuses: Excuses


def check_apart(assignment: Assignment) -> Conformance:
    """What became of all checks.

    Raises what the checks could not go on after, and PluginError where the package ended the
    process without a word.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=serve, args=(theirs, assignment))
    process.start()
    theirs.close()
    try:
        told = ours.recv_bytes()
    except (EOFError, OSError):
        process.join()
        raise PluginError(
            f"{assignment.package} ended the process that checked it "
            f"(exit code {process.exitcode})",
            hint="plugin code must not exit: look for os._exit, and for libraries that crash",
        ) from None
    finally:
        ours.close()
        process.kill()
        process.join()
    outcome = read_message(told, assignment.package)
    if isinstance(outcome, RPXError):
        raise outcome
    return outcome


def serve(connection: Connection, assignment: Assignment) -> None:
    """Perform the checks and send home what became of them, or the error that ended them."""
    # Ctrl-C is the parent's, which ends this process; a KeyboardInterrupt here is the package's.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch_interrupts()
    told = write_message(conduct(assignment))
    with suppress(OSError):  # Whoever asked has gone.
        connection.send_bytes(told)


def conduct(assignment: Assignment) -> Conformance | RPXError:
    """What became of all checks, or what they could not go on after."""
    # Standard output belongs to the parent, which may owe its reader one JSON document.
    with stdout_to_stderr():
        try:
            package = open_package(assignment.package)
            return check_package(package, assignment.settings, assignment.excuses)
        except BaseException as error:
            return last_words(error, f"checking {assignment.package}")
