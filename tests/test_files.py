"""Listed files are read only where, and only as, the dataset allows."""

from __future__ import annotations

import errno
import hashlib
import os
import pickle
import unicodedata
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core import files as files_module
from rpx_core.atomic import write_atomic
from rpx_core.errors import JournalError, ManifestError
from rpx_core.files import Files, read_file

Form = Literal["NFC", "NFD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD")
CONTENT = b"pixels"
CHECKSUM = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "dataset"
    (folder / "rgb").mkdir(parents=True)
    (folder / "rgb" / "1.png").write_bytes(CONTENT)
    (tmp_path / "secret").write_bytes(b"secret")
    return folder


def refusal(files: Files, name: str) -> str:
    with pytest.raises(ManifestError) as caught:
        files.read(name)
    return str(caught.value)


def test_listed_file_is_read_whole(root: Path) -> None:
    assert Files(root).read("rgb/1.png") == CONTENT
    assert Files(root).read("./rgb//1.png") == CONTENT


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../secret", "climbs with '..'"),
        ("rgb/../../secret", "climbs with '..'"),
        ("rgb/../rgb/1.png", "climbs with '..'"),
        ("..\\secret", "backslash"),
        ("C:/secret", "drive letter"),
        ("c:secret", "drive letter"),
        ("rgb/1.png\0.jpg", "NUL byte"),
        ("rgb/\ud800.png", "surrogate"),
        ("/etc/passwd", "outside the dataset root"),
        ("//etc/passwd", "outside the dataset root"),
        ("", "empty"),
        (".", "a folder"),
        ("rgb", "a folder"),
        ("rgb/", "a folder"),
        ("rgb/2.png", "is missing"),
        ("rgb/1.png/2.png", "is missing"),
        ("x" * 5000, "cannot be read"),
    ],
)
def test_hostile_name_is_refused_with_its_reason(root: Path, name: str, reason: str) -> None:
    message = refusal(Files(root), name)

    assert reason in message
    assert len(message) < 600
    message.encode()  # printable: an unpaired surrogate would break stderr


@pytest.mark.parametrize("name", [None, 5, ["rgb/1.png"], {"path": "rgb/1.png"}])
def test_name_that_is_not_text_is_refused(root: Path, name: object) -> None:
    with pytest.raises(ManifestError, match="path was expected"):
        Files(root).read(name)  # type: ignore[arg-type]


def test_absolute_path_is_read_only_inside_the_root(root: Path, tmp_path: Path) -> None:
    assert Files(root).read(str(root / "rgb" / "1.png")) == CONTENT
    assert "outside the dataset root" in refusal(Files(root), str(tmp_path / "secret"))


def test_sibling_whose_name_starts_like_the_root_is_outside(root: Path, tmp_path: Path) -> None:
    (tmp_path / "dataset2").mkdir()
    (tmp_path / "dataset2" / "1.png").write_bytes(CONTENT)

    assert "outside" in refusal(Files(root), str(tmp_path / "dataset2" / "1.png"))


def test_link_out_of_the_root_is_refused_without_naming_its_end(root: Path) -> None:
    (root / "out.png").symlink_to("../secret")
    (root / "folder").symlink_to("..")

    for name in ("out.png", "folder/secret"):
        message = refusal(Files(root), name)
        assert "outside the dataset root" in message
        assert name in message
        assert str(root.parent / "secret") not in message


def test_link_inside_the_root_is_followed(root: Path) -> None:
    (root / "alias.png").symlink_to("rgb/1.png")

    assert Files(root).read("alias.png") == CONTENT


def test_links_that_lead_nowhere_or_round_are_errors(root: Path) -> None:
    (root / "dangling").symlink_to("rgb/none.png")
    (root / "loop").symlink_to("loop")

    assert "missing" in refusal(Files(root), "dangling")
    assert "cannot be read" in refusal(Files(root), "loop")


def test_snapshot_links_reach_the_blobs_of_their_own_repository_only(tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    for repository in ("mine", "other"):
        (hub / repository / "blobs").mkdir(parents=True)
        (hub / repository / "blobs" / "abc").write_bytes(repository.encode())
    snapshot = hub / "mine" / "snapshots" / "main"
    snapshot.mkdir(parents=True)
    (snapshot / "own.png").symlink_to("../../blobs/abc")
    (snapshot / "foreign.png").symlink_to("../../../other/blobs/abc")
    files = Files(snapshot, also=[hub / "mine" / "blobs"])

    assert files.read("own.png") == b"mine"
    assert "outside" in refusal(files, "foreign.png")
    assert "outside" in refusal(Files(snapshot), "own.png")


def test_pipes_and_devices_are_refused_without_blocking(root: Path) -> None:
    os.mkfifo(root / "pipe")

    assert "a device, pipe or socket" in refusal(Files(root), "pipe")
    with pytest.raises(ManifestError, match="a device, pipe or socket"):
        read_file(Path("/dev/zero"), source="/dev/zero", limit=10)


def test_unreadable_file_is_one_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not by chmod: tests may run as root.
    def refuse(path: Path, flags: int) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refuse)

    assert "'rgb/1.png' cannot be read: Permission denied" in refusal(Files(root), "rgb/1.png")


def test_missing_root_is_named(tmp_path: Path) -> None:
    message = refusal(Files(tmp_path / "nowhere"), "1.png")

    assert f"the dataset root {tmp_path / 'nowhere'} is not a folder" in message


def test_file_over_the_limit_is_refused_by_its_size(root: Path) -> None:
    with open(root / "huge.npy", "wb") as sparse:
        sparse.truncate(2**40)

    assert "1,048,576.0 MiB" in refusal(Files(root), "huge.npy")
    assert Files(root).read("rgb/1.png", limit=len(CONTENT)) == CONTENT
    with pytest.raises(ManifestError, match="at most"):
        Files(root).read("rgb/1.png", limit=len(CONTENT) - 1)


# RW-126: composed and decomposed spellings of one name are different strings.
@pytest.mark.parametrize("name", ["café_é.png", "深度.png", "a b#1.png", "100%25.png", "-x.png"])
@pytest.mark.parametrize("listed", FORMS)
@pytest.mark.parametrize("stored", FORMS)
def test_names_are_found_in_either_unicode_form(
    root: Path, name: str, listed: Form, stored: Form
) -> None:
    (root / unicodedata.normalize(stored, name)).write_bytes(CONTENT)

    assert Files(root).read(unicodedata.normalize(listed, name)) == CONTENT


def test_spelling_as_written_wins_over_its_normal_forms(root: Path) -> None:
    for form in FORMS:
        (root / unicodedata.normalize(form, "é.png")).write_bytes(form.encode())
    if len(list(root.glob("*.png"))) < 2:
        pytest.skip("this file system does not keep the two forms apart")

    assert Files(root).read(unicodedata.normalize("NFD", "é.png")) == b"NFD"
    assert Files(root).read(unicodedata.normalize("NFC", "é.png")) == b"NFC"


@given(st.text(max_size=30))
def test_any_name_is_content_or_one_error(name: str) -> None:
    files = Files(Path(__file__).parent / "no such folder")

    with pytest.raises(ManifestError):
        files.read(name)


def test_declared_checksum_is_verified(root: Path) -> None:
    files = Files(root)

    assert files.read("rgb/1.png", checksum=CHECKSUM.upper().replace("SHA", "sha")) == CONTENT
    with pytest.raises(ManifestError, match="differs from its declared checksum"):
        files.read("rgb/1.png", checksum="sha256:" + "0" * 64)


@pytest.mark.parametrize("checksum", ["md5:abc", "sha256:abc", CHECKSUM[7:], ""])
def test_malformed_checksum_is_an_error_not_a_pass(root: Path, checksum: str) -> None:
    with pytest.raises(ManifestError, match="64 hexadecimal digits"):
        Files(root).read("rgb/1.png", checksum=checksum)


def test_checksum_is_verified_again_after_a_verified_read(root: Path) -> None:
    files = Files(root)
    path = root / "rgb" / "1.png"
    files.read("rgb/1.png", checksum=CHECKSUM)
    before = path.stat()
    path.write_bytes(b"forged")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(ManifestError, match="differs"):
        files.read("rgb/1.png", checksum=CHECKSUM)


def test_digest_follows_the_content(root: Path) -> None:
    files = Files(root)
    assert files.digest("rgb/1.png") == CHECKSUM

    (root / "rgb" / "1.png").write_bytes(b"longer pixels")

    assert files.digest("rgb/1.png") == "sha256:" + hashlib.sha256(b"longer pixels").hexdigest()


def test_digest_is_remembered_while_size_and_time_stay(root: Path) -> None:
    files = Files(root)
    path = root / "rgb" / "1.png"
    first = files.digest("rgb/1.png")
    before = path.stat()
    path.write_bytes(b"PIXELS")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert files.digest("rgb/1.png") == first
    assert Files(root).digest("rgb/1.png") != first


def test_digests_kept_do_not_grow_without_bound(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_module, "_MAX_DIGESTS", 3)
    files = Files(root)
    for index in range(10):
        (root / f"{index}.png").write_bytes(bytes([index]))
        files.digest(f"{index}.png")

    assert len(files._digests) == 3


def test_files_travel_to_workers_without_their_digests(root: Path, tmp_path: Path) -> None:
    files = Files(root, also=[tmp_path / "blobs"])
    files.digest("rgb/1.png")

    copy = pickle.loads(pickle.dumps(files))

    assert copy == files
    assert not copy._digests
    assert copy.read("rgb/1.png") == CONTENT


def test_atomic_write_replaces_the_whole_file(tmp_path: Path) -> None:
    target = tmp_path / "run.json"
    write_atomic(target, b"old, and longer")
    write_atomic(target, b"new")

    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["run.json"]


def test_full_disk_keeps_the_old_file_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "run.json"
    write_atomic(target, b"old")

    def run_full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", run_full)

    with pytest.raises(JournalError) as caught:
        write_atomic(target, b"new")
    assert str(target) in str(caught.value)
    assert "No space left" in str(caught.value)
    assert "free some space and run the same command again" in str(caught.value)
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["run.json"]


def test_interrupted_write_leaves_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)

    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "run.json", b"new")
    assert os.listdir(tmp_path) == []


def test_write_makes_the_folder(tmp_path: Path) -> None:
    write_atomic(tmp_path / "new" / "folder" / "run.json", b"new")

    assert (tmp_path / "new" / "folder" / "run.json").read_bytes() == b"new"


def test_write_where_no_file_can_be_is_a_journal_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()

    with pytest.raises(JournalError, match="cannot be written"):
        write_atomic(tmp_path / "file" / "run.json", b"new")
    os.mkfifo(tmp_path / "pipe")
    for irregular in ("folder", "pipe"):
        with pytest.raises(JournalError, match="is no regular file"):
            write_atomic(tmp_path / irregular, b"new")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "pipe"]
