"""A Hugging Face Hub on this machine: what the real one answers, and the ways it can fail."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

_LARGE = (".tar", ".png", ".webp", ".npz", ".npy", ".bin")


@dataclass(frozen=True)
class Fault:
    """One answer that goes wrong: an error status, a body cut off, or bytes flipped in it.

    A body that stalls keeps its connection open where it is cut off, until the hub ends; an answer
    that is silent does so before its first byte. What comes `after` waits for that event.
    With a `body`, that is the answer.
    """

    status: int = 200
    code: str = ""
    cut_at: int | None = None
    corrupt: bool = False
    stalls: bool = False
    silent: bool = False
    after: threading.Event | None = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A request that came: the path, the status of the answer, and two headers."""

    path: str
    status: int
    range: str | None
    token: str | None


class LocalHub:
    """Repositories by name, each with commits by branch; files above it by `faults` and `private`.

    Large files are answered by a redirect to another origin, as LFS is.
    """

    def __init__(self) -> None:
        self.commits: dict[tuple[str, str], dict[str, bytes]] = {}
        self.branches: dict[tuple[str, str], str] = {}
        self.tokens: dict[str, str] = {}
        self.faults: dict[str, deque[Fault]] = {}
        self.asked: list[Asked] = []
        self.page_size = 1000
        self.stalled = threading.Event()
        self.refused = threading.Event()
        """Set once a fault was answered with an error."""
        self.ended = threading.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def push(self, repo: str, files: Mapping[str, bytes], branch: str = "main") -> str:
        """A new commit of a repository; its id."""
        digest = hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()
        self.commits[repo, digest] = dict(files)
        self.branches[repo, branch] = digest
        return digest

    def fail(self, path: str, *faults: Fault) -> None:
        """The next answers for a path of a repository go wrong like this."""
        self.faults[path] = deque(faults)

    def fetched(self) -> list[str]:
        """Paths of repository files whose content was sent, in order."""
        found = (re.fullmatch(r"/lfs/[^/]+/(.+)|.*/resolve/[^/]+/(.+)", a.path) for a in self.asked)
        return [
            unquote(match[1] or match[2])
            for match, asked in zip(found, self.asked, strict=True)
            if match and asked.status in (200, 206)
        ]


@contextmanager
def local_hub() -> Iterator[LocalHub]:
    """A hub that runs while the context is open."""
    hub = LocalHub()

    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        hub.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    # Eight workers at once would overflow the usual five, and wait a second for each retry.
    request_queue_size = 64
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep quiet: a client that has seen enough, or is killed, hangs up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    hub: LocalHub

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if match := re.fullmatch(r"/lfs/(\w+)/(.+)", parts.path):
            self._content(match[1], unquote(match[2]))
        elif match := re.fullmatch(
            r"(?:/api)?/datasets/([\w.-]+/[\w.-]+)(?:/(revision|tree|resolve)/([^/]+)(?:/(.+))?)?",
            parts.path,
        ):
            repo, verb, revision, path = match.groups()
            self._repository(repo, verb or "revision", unquote(revision or "main"), path)
        else:
            self._error(404, "")

    do_HEAD = do_GET

    def log_message(self, *arguments: object) -> None:
        """Keep quiet."""

    def _repository(self, repo: str, verb: str, revision: str, path: str | None) -> None:
        hub = self.hub
        commit = hub.branches.get((repo, revision), revision)
        files = hub.commits.get((repo, commit))
        refusal = self._refusal(repo, files is not None)
        if refusal is not None or files is None:
            self._error(*(refusal or (404, "RevisionNotFound")))
        elif verb == "resolve":
            self._resolve(commit, files, unquote(path or ""))
        elif self._fails(verb):
            pass
        elif verb == "tree":
            self._tree(files)
        else:
            siblings = [{"rfilename": name} for name in sorted(files)]
            self._json({"id": repo, "sha": commit, "siblings": siblings})

    def _refusal(self, repo: str, has_revision: bool) -> tuple[int, str] | None:
        token = self.hub.tokens.get(repo)
        if token == "gated":
            return 403, "GatedRepo"
        if token and self.headers.get("authorization") != f"Bearer {token}":
            return 401, ""
        if not any(name == repo for name, _ in self.hub.branches):
            return 401, "RepoNotFound"
        return None if has_revision else (404, "RevisionNotFound")

    def _tree(self, files: Mapping[str, bytes]) -> None:
        start = int(parse_qs(urlsplit(self.path).query).get("cursor", ["0"])[0])
        end = start + self.hub.page_size
        names = sorted(files)
        link = {}
        if end < len(names):
            link = {"Link": f'<{self.hub.url}{urlsplit(self.path).path}?cursor={end}>; rel="next"'}
        self._json([_tree_item(name, files[name]) for name in names[start:end]], link)

    def _resolve(self, commit: str, files: Mapping[str, bytes], path: str) -> None:
        if path not in files:
            return self._error(404, "EntryNotFound", {"X-Repo-Commit": commit})
        content = files[path]
        headers = {"X-Repo-Commit": commit, "ETag": f'"{_blob_id(content)}"'}
        if not path.endswith(_LARGE):
            return None if self._fails(path, content) else self._send(200, content, headers)
        sha256 = hashlib.sha256(content).hexdigest()
        location = f"http://localhost:{self.hub.port}/lfs/{commit}/{path}"
        linked = {"X-Linked-Etag": f'"{sha256}"', "X-Linked-Size": str(len(content))}
        return self._send(302, b"", {**headers, **linked, "Location": location})

    def _content(self, commit: str, path: str) -> None:
        content = next(f[path] for (_, c), f in self.hub.commits.items() if c == commit)
        if self._fails(path, content):
            return
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("range", ""))
        start = int(wanted[1]) if wanted else 0
        span = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        self._send(206 if wanted else 200, content[start:], span if wanted else {})

    def _fails(self, name: str, content: bytes = b"") -> bool:
        queue = self.hub.faults.get(name)
        if not queue:
            return False
        fault = queue.popleft()
        if fault.after is not None:
            fault.after.wait()
        if fault.silent:
            self.close_connection = True
            self._stall()
        elif fault.body is not None:
            self._send(fault.status, fault.body, fault.headers)
        elif fault.status >= 400:
            self._error(fault.status, fault.code, fault.headers)
            self.hub.refused.set()
        elif fault.corrupt:
            self._send(200, bytes(255 - byte for byte in content), {})
        elif fault.cut_at is not None:
            self._send(200, content, {}, cut_at=fault.cut_at)
            self.close_connection = True
            if fault.stalls:
                self.wfile.flush()
                self._stall()
        return True

    def _stall(self) -> None:
        self.hub.stalled.set()
        self.hub.ended.wait()

    def _json(self, value: object, headers: Mapping[str, str] = {}) -> None:  # read
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})

    def _error(self, status: int, code: str, headers: Mapping[str, str] = {}) -> None:
        self._send(status, b"{}", {**({"X-Error-Code": code} if code else {}), **headers})

    def _send(
        self, status: int, body: bytes, headers: Mapping[str, str], *, cut_at: int | None = None
    ) -> None:
        asked = Asked(
            urlsplit(self.path).path,
            status,
            self.headers.get("range"),
            self.headers.get("authorization"),
        )
        self.hub.asked.append(asked)
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[:cut_at])


def _tree_item(path: str, content: bytes) -> dict[str, object]:
    item: dict[str, object] = {
        "type": "file",
        "path": path,
        "size": len(content),
        "oid": _blob_id(content),
    }
    if path.endswith(_LARGE):
        sha256 = hashlib.sha256(content).hexdigest()
        item["lfs"] = {"oid": sha256, "size": len(content), "pointerSize": 130}
    return item


def _blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
