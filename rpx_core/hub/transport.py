"""One HTTP request through the session of huggingface_hub, with its proxies, certificates, token.

Its versions bring different HTTP libraries, `requests` before 1.0 and `httpx` since; this is the
only place that knows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from rpx_core import __version__

CHUNK = 1 << 16
"""Small, for what has come of a chunk is lost when the connection breaks."""
TIMEOUT_S = 10.0

Wait = Callable[[], AbstractContextManager[None]]
"""What is entered while the network is waited for: a thread may be called away from it."""


class UnreachableError(Exception):
    """The hub did not answer, or the connection broke in the middle of an answer."""


@dataclass(frozen=True)
class Response:
    """The answer to a request; `chunks` are read while the connection is open."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]


@contextmanager
def get(url: str, headers: Mapping[str, str], wait: Wait = nullcontext) -> Iterator[Response]:
    """Open a GET request; redirects are followed, the token stays with the first host.

    Raises UnreachableError, also while chunks are read. A status of an error raises nothing.
    """
    from huggingface_hub import get_token
    from huggingface_hub.utils import get_session  # type: ignore[attr-defined]  # exported lazily

    session: Any = get_session()
    token = get_token()
    sent = {
        "User-Agent": f"rpx/{__version__}",
        # Sizes and checksums are those of the content, not of its compressed form.
        "Accept-Encoding": "identity",
        **({"Authorization": f"Bearer {token}"} if token else {}),
        **headers,
    }
    # Addresses, tokens and certificates that cannot be used fail when the answer is opened.
    unusable: tuple[type[BaseException], ...] = (*_failures(session), OSError, ValueError)
    streams = callable(getattr(session, "stream", None))
    with ExitStack() as stack:
        try:
            with wait():
                opened = (
                    session.stream("GET", url, headers=sent, timeout=TIMEOUT_S)
                    if streams
                    else session.get(url, headers=sent, timeout=TIMEOUT_S, stream=True)
                )
                answer = stack.enter_context(opened)
        except unusable as error:
            raise UnreachableError(str(error) or type(error).__name__) from error
        try:
            body = answer.iter_bytes() if streams else answer.iter_content(CHUNK)
            yield Response(answer.status_code, answer.headers, _read(body, wait))
        except _failures(session) as error:
            raise UnreachableError(str(error) or type(error).__name__) from error


def _read(body: Iterator[bytes], wait: Wait) -> Iterator[bytes]:
    while True:
        with wait():
            chunk = next(body, None)
        if chunk is None:
            return
        yield chunk


def _failures(session: Any) -> tuple[type[BaseException], ...]:
    """What the library raises when there is no answer, or only part of one."""
    library = sys.modules[type(session).__module__.partition(".")[0]]
    names = ("HTTPError", "RequestException", "StreamError", "InvalidURL")
    return tuple(getattr(library, name) for name in names if hasattr(library, name))
