"""What went wrong between us and the hub, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import sleep
from types import MappingProxyType

from rpx_core.errors import DownloadError
from rpx_core.hub.origin import Origin, shown_endpoint

_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_LONGEST_WAIT_S = 300.0


@dataclass(frozen=True)
class Patience:
    """How often something is tried again that may pass, and how long is waited in between.

    The wait doubles from `first_s` on; the hub may ask for a longer one.
    """

    attempts: int = 5
    first_s: float = 0.5
    sleep: Callable[[float], None] = sleep

    def wait(self, failed: int, headers: Mapping[str, str]) -> None:
        """Wait after so many failures in a row."""
        asked = headers.get("retry-after", "")
        usual = self.first_s * 2 ** (failed - 1)
        self.sleep(min(float(asked) if asked.isdecimal() else usual, _LONGEST_WAIT_S))


def is_passing(status: int) -> bool:
    """Whether trying again may help."""
    return status in _PASSING


def unreachable(origin: Origin, problem: str) -> DownloadError:
    """The network failed."""
    return DownloadError(
        f"{origin.repo_id}: the hub at {shown_endpoint()} cannot be reached: {problem}",
        hint="check the network and HF_ENDPOINT, then run the command again: what was fetched is "
        "kept. HF_HUB_OFFLINE=1 uses what is in the cache alone",
    )


def refused(origin: Origin, what: str, status: int, headers: Mapping[str, str]) -> DownloadError:
    """The hub answered, but not with what was asked for; `what` is that."""
    code = headers.get("x-error-code", "")
    usual = "later" if is_passing(status) else "other"
    kind = next((key for key in (code, str(status)) if key in _REASONS), usual)
    page = f"{shown_endpoint()}/datasets/{origin.repo_id}"
    said = [text.format(what=what, revision=origin.revision, page=page) for text in _REASONS[kind]]
    return DownloadError(
        f"{origin.repo_id}: {said[0]} (HTTP {status})",
        hint=said[1],
        details={
            "status": status,
            "code": code,
            "repo_id": origin.repo_id,
            "revision": origin.revision,
        },
    )


_LOG_IN = "set HF_TOKEN, or log in with `hf auth login`, as a user who may read it"
_REASONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "GatedRepo": (
            "this dataset is gated: its owner must give you access",
            "ask for it on {page}, then set HF_TOKEN to a token of that account",
        ),
        "RepoNotFound": (
            "there is no such dataset, or it is private",
            f"check the spelling; if it is private, {_LOG_IN}",
        ),
        "RevisionNotFound": (
            "there is no revision {revision!r}",
            "check --revision and RPX_HF_REVISION",
        ),
        "EntryNotFound": (
            "there is no {what} at revision {revision!r}",
            "check --revision: files come and go",
        ),
        "401": ("the hub wants a valid token for {what}", f"check the spelling, and {_LOG_IN}"),
        "403": ("the token may not read {what}", f"ask its owner for access, or {_LOG_IN}"),
        "404": ("there is no {what}", "check the repository and --revision"),
        "429": ("the hub asks for fewer requests", "wait some minutes, then run the command again"),
        "later": (
            "the hub fails to serve {what}",
            "run the command again later; what was fetched is kept",
        ),
        "other": ("the hub refuses {what}", "check HF_ENDPOINT, the repository and the token"),
    }
)
