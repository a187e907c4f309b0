"""Writing files that are never half there."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

from rpx_core.errors import JournalError


def write_atomic(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Put `content` at `path` whole, or leave what was there; raises `JournalError`.

    What is not `durable` may be an empty file after a power failure, and costs a tenth of the time.
    The temporary file lies in the same folder, which is made, and is gone after a failure.
    """
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        # Asking may itself be refused, as all below may.
        if path.exists() and not path.is_file():
            raise JournalError(
                f"{path} is no regular file: a file cannot be put in its place",
                hint="name another place",
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "xb") as stream:
            stream.write(content)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        os.replace(temporary, path)
        if durable:
            _sync_folder(path.parent)
    except OSError as problem:
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
        raise JournalError(
            f"{path} cannot be written: {problem.strerror or problem}",
            hint="free some space and run the same command again"
            if full
            else "check that its folder may be written, then run the command again",
        ) from problem
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    # Makes the rename itself survive a power cut; not every system can sync a folder.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
