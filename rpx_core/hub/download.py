"""Bringing files of a commit into the cache: several at once, each whole and verified or not."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread

from rpx_core.errors import DownloadError, RPXError, first_few
from rpx_core.hub.adoption import adopt_all
from rpx_core.hub.archives import Unpacking, unpack
from rpx_core.hub.cancellation import Cancellation
from rpx_core.hub.client import Client
from rpx_core.hub.conflicts import refuse_conflicts
from rpx_core.hub.listing import HubFile, Listing
from rpx_core.hub.lock import hold
from rpx_core.hub.origin import is_offline
from rpx_core.hub.store import ARCHIVE, Snapshot, Store, part_name, storing
from rpx_core.progress import Progress, Watch


@dataclass(frozen=True)
class Declared:
    """The checksums that the release itself declares: of archives, and of what is in them.

    Both by path in the repository, members at the path that they are unpacked to.
    """

    archives: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, str] = field(default_factory=dict)

    def of_members(self, archive: str) -> Mapping[str, str]:
        """Those of one archive, by name in it."""
        return self._by_phase.get(_phase_of(archive), {})

    @cached_property
    def _by_phase(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for path, digest in self.members.items():
            phase = _phase_of(path)
            found.setdefault(phase, {})[path.removeprefix(phase)] = digest
        return found


def _phase_of(path: str) -> str:
    """`scenes/<scene>/<phase>/`, which names inside of archives are relative to."""
    return "".join(f"{part}/" for part in path.split("/")[:3])


@dataclass(frozen=True)
class Downloader:
    """Fetches files of one commit that are not there yet."""

    client: Client
    store: Store
    snapshot: Snapshot
    listing: Listing
    watch: Watch
    max_workers: int = 8

    def ensure(self, files: Iterable[HubFile], declared: Declared | None = None) -> None:
        """Have all these files, or raise DownloadError: never some of them.

        Without network, the error lists what is missing. Raises ManifestError, before anything is
        fetched, where files of the commit claim the same place.
        """
        wanted = sorted(set(files), key=lambda file: file.path)
        missing = self._missing(wanted)
        if not missing:
            return
        if is_offline():
            raise self._incomplete(missing, len(wanted))
        refuse_conflicts(missing, self.listing, source=str(self.client.origin))
        waiting = ExitStack()
        lock = hold(self.store.lock, lambda text: self._show(text, waiting))
        with storing(self.store), waiting, lock as alone:
            waiting.close()
            with self.store.receiving(alone=alone) as folder:
                self._fetch(self._missing(wanted), declared or Declared(), folder)
        left = self._missing(wanted)
        if left:
            raise self._incomplete(left, len(wanted))

    def _fetch(self, files: Sequence[HubFile], declared: Declared, folder: Path) -> None:
        todo = adopt_all(self.store, self.snapshot, files)
        self._check_space(todo)
        with self.watch(f"fetching {self.client.origin.repo_id}") as progress:
            progress.begin(sum(file.size for file in todo), 0)
            _Crew(self, declared, folder, progress).fetch(todo)

    def _show(self, text: str, waiting: ExitStack) -> None:
        waiting.enter_context(self.watch(text))

    def _missing(self, files: Sequence[HubFile]) -> list[HubFile]:
        return [file for file in files if not self.snapshot.has(file)]

    def _check_space(self, files: Sequence[HubFile]) -> None:
        needed = sum(file.size for file in files)
        # An archive is there twice while it is unpacked, and several may be at a time.
        archives = sorted(
            (file.size for file in files if file.path.endswith(ARCHIVE)), reverse=True
        )
        needed += sum(archives[: self.max_workers])
        free = shutil.disk_usage(self.store.root).free
        if needed > free:
            raise DownloadError(
                f"{self.client.origin}: {needed / 2**30:.1f} GiB are needed below "
                f"{self.store.root}, where {free / 2**30:.1f} GiB are free",
                hint="set RPX_CACHE_DIR to a larger disk, or take fewer: --max-samples",
            )

    def _incomplete(self, missing: Sequence[HubFile], wanted: int) -> DownloadError:
        names = first_few([file.path for file in missing], 5)
        return DownloadError(
            f"{self.client.origin}: {len(missing)} of {wanted} files are not in the cache, and "
            f"HF_HUB_OFFLINE forbids to fetch them: {names}"
            if is_offline()
            else f"{self.client.origin}: {len(missing)} of {wanted} files are missing: {names}",
            hint="unset HF_HUB_OFFLINE, or run `rpx data download` where there is a network and "
            f"copy {self.store.root}",
            details={"missing": [file.path for file in missing]},
        )


class _Crew:
    """Workers that fetch one file after the other until one of them fails."""

    def __init__(
        self, downloader: Downloader, declared: Declared, folder: Path, progress: Progress
    ) -> None:
        self._cancellation = Cancellation()
        self._client = replace(downloader.client, wait=self._cancellation.wait)
        self._downloader = downloader
        self._declared = declared
        self._folder = folder
        self._progress = progress
        self._counting = Lock()

    def fetch(self, files: Sequence[HubFile]) -> None:
        """Fetch all; raises what the first worker that failed has raised.

        After an error or Ctrl-C no worker touches the cache any more, and none is waited for that
        itself waits for the network.
        """
        todo: SimpleQueue[HubFile | None] = SimpleQueue()
        ended: SimpleQueue[BaseException | None] = SimpleQueue()
        workers = min(self._downloader.max_workers, len(files))
        for item in (*files, *[None] * workers):
            todo.put(item)
        try:
            for _ in range(workers):
                # Daemons: the end of a command does not wait for them either.
                Thread(target=self._work, args=(todo, ended), daemon=True).start()
            for _ in range(workers):
                error = ended.get()
                if error is not None:
                    raise error
        finally:
            self._cancellation.cancel()

    def _work(
        self, todo: SimpleQueue[HubFile | None], ended: SimpleQueue[BaseException | None]
    ) -> None:
        error: BaseException | None = None
        try:
            with self._cancellation.work():
                while (file := todo.get()) is not None:
                    self._fetch(file)
        except BaseException as raised:  # Raised again where the workers are waited for.
            error = raised
        ended.put(error)

    def _fetch(self, file: HubFile) -> None:
        owner = self._downloader
        part = self._folder / part_name(file)
        sha256 = self._client.download(file, owner.snapshot.commit, part, self._advance)
        try:
            self._check_declared(file, sha256)
            if file.path.endswith(ARCHIVE):
                self._unpack(part, file, sha256)
            else:
                owner.snapshot.put_file(part, file)
        except RPXError:
            # Bytes that were refused must not be taken for the beginning of the right ones.
            part.unlink(missing_ok=True)
            raise

    def _unpack(self, part: Path, file: HubFile, sha256: str) -> None:
        owner = self._downloader
        source = f"{owner.client.origin}: {file.path}"
        members = self._declared.of_members(file.path)
        unpacking = Unpacking(source, sha256, members, self._cancellation.check)
        scratch = owner.store.scratch()
        try:
            unpack(part, scratch / "members", unpacking)
            # Before its content is seen: what is killed in between must not leave it for good.
            part.unlink()
            owner.snapshot.put_folder(scratch / "members", file)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _advance(self, count: int) -> None:
        self._cancellation.check()
        with self._counting:
            self._progress.advance(count)

    def _check_declared(self, file: HubFile, sha256: str) -> None:
        declared = self._declared.archives.get(file.path, sha256)
        if declared != sha256:
            raise DownloadError(
                f"{self._downloader.client.origin}: {file.path} differs from its checksum in "
                f"manifest/checksums.json: declared {declared}, found {sha256}",
                hint="the release contradicts itself; ask its owner, or choose another --revision",
            )
