"""Asking the hub: which commit a revision is, what it holds, and the bytes of one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urljoin, urlsplit

from rpx_core.documents import read_json
from rpx_core.errors import DownloadError
from rpx_core.files import quote as quote_name
from rpx_core.hub.failures import Patience, is_passing, refused, unreachable
from rpx_core.hub.incoming import Advance, Incoming
from rpx_core.hub.listing import HubFile, Listing, build_listing, read_tree
from rpx_core.hub.origin import Origin, endpoint, is_commit, shown_endpoint
from rpx_core.hub.transport import Response, UnreachableError, Wait, get

_ANSWER_LIMIT = 64 * 2**20
_PAGES = 10_000
_FETCHES = 2
"""How often content is fetched that differs from its checksum: once may be the network."""

T = TypeVar("T")


@dataclass(frozen=True)
class Client:
    """The hub, for one repository. Every failure is a DownloadError with the next step.

    `wait` is entered while the network, or the time for another try, is waited for.
    """

    origin: Origin
    patience: Patience = field(default_factory=Patience)
    wait: Wait = nullcontext

    def resolve(self) -> str:
        """The commit that the revision is now."""
        revision = self.origin.revision
        if is_commit(revision):
            return revision
        url = self._api(f"revision/{quote(revision, safe='')}")
        answer, _ = self._ask(url, f"revision {revision!r}")
        commit = answer.get("sha") if isinstance(answer, Mapping) else None
        if not isinstance(commit, str) or not is_commit(commit):
            raise self._hostile("the hub does not say which commit that is")
        return commit

    def list_files(self, commit: str) -> Listing:
        """Everything that a commit holds."""
        what = f"list of files at revision {self.origin.revision!r}"
        url: str | None = self._api(f"tree/{commit}?recursive=true")
        files: list[HubFile] = []
        for _ in range(_PAGES):
            if url is None:
                return build_listing(commit, files)
            items, url = self._ask(url, what)
            files += read_tree(items, source=f"{self.origin}: {what}")
        raise self._hostile(f"the {what} has no end")

    def download(self, file: HubFile, commit: str, path: Path, advance: Advance) -> str:
        """The bytes of a file at `path`, whole and verified; returns their `sha256:...`.

        What an interrupted call left there is continued. Content that differs from its checksum
        is thrown away and fetched once more. `advance` hears how many bytes came, or were lost.
        """
        incoming = Incoming(file, path, advance)
        url = f"{endpoint()}/datasets/{self.origin.repo_id}/resolve/{commit}/{quote(file.path)}"
        for _ in range(_FETCHES):
            if not incoming.is_whole:
                self._request(url, file.path, incoming.take, incoming)
            if incoming.matches:
                return incoming.sha256
            found = incoming.sha256
            incoming.restart()
        path.unlink()
        raise DownloadError(
            f"{self.origin}: {file.path} is damaged on its way: the hub lists {file.digest}, but "
            f"what comes has {found}",
            hint="a proxy or mirror may do that: check HF_ENDPOINT and HTTPS_PROXY, then run the "
            "command again",
        )

    def _ask(self, url: str, what: str) -> tuple[Any, str | None]:
        """The JSON answer to a question, and where the next page of it is."""

        def read(answer: Response) -> tuple[Any, str | None]:
            content = b""
            for chunk in answer.chunks:
                content += chunk
                if len(content) > _ANSWER_LIMIT:
                    raise self._hostile(f"the {what} is too long to be one")
            try:
                value = read_json(content, source=what, error=DownloadError)
            except DownloadError as error:
                raise self._hostile(error.message) from error
            return value, self._next_page(url, answer.headers)

        return self._request(url, what, read)

    def _request(
        self,
        url: str,
        what: str,
        use: Callable[[Response], T],
        incoming: Incoming | None = None,
    ) -> T:
        """What `use` makes of the answer; tried again while that may help.

        Bytes that came reset the count of failures: a long file outlives many short connections.
        """
        failed = 0
        while True:
            headers: Mapping[str, str] = {}
            try:
                with get(url, incoming.headers if incoming else {}, self.wait) as answer:
                    if answer.status in (200, 206):
                        return use(answer)
                    headers = answer.headers
                    problem = refused(self.origin, what, answer.status, headers)
                    if not is_passing(answer.status):
                        raise problem
            except UnreachableError as error:
                problem = unreachable(self.origin, str(error))
            failed = 1 if incoming and incoming.grew() else failed + 1
            if failed >= self.patience.attempts:
                raise problem
            with self.wait():
                self.patience.wait(failed, headers)

    def _hostile(self, problem: str) -> DownloadError:
        """An answer that no hub gives."""
        return DownloadError(
            f"{self.origin}: {problem}",
            hint=f"check that HF_ENDPOINT is a hub: {shown_endpoint()}",
        )

    def _api(self, path: str) -> str:
        return f"{endpoint()}/api/datasets/{self.origin.repo_id}/{path}"

    def _next_page(self, url: str, headers: Mapping[str, str]) -> str | None:
        """The link to the next page, which must lead back to the hub: the token goes with it."""
        for link in headers.get("link", "").split(","):
            target, _, relation = link.partition(";")
            if 'rel="next"' in relation:
                try:
                    following = urljoin(url, target.strip().strip("<>"))
                    same = urlsplit(following)[:2] == urlsplit(url)[:2]
                except ValueError:
                    following, same = target, False
                if not same:
                    raise self._hostile(f"the next page leads elsewhere: {quote_name(following)}")
                return following
        return None
