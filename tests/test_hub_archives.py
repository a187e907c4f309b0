"""Archives that anyone may have made: what is taken from them, and what is refused."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.errors import ManifestError
from rpx_core.hub import archives
from rpx_core.hub.archives import MEMBERS, Unpacking, read_members, unpack
from rpx_core.hub.checksums import read_checksums
from tests.hub_desk import REPO, Desk, packed_files
from tests.hub_sets import make_tar
from tests.local_hub import LocalHub

Edit = Callable[[tarfile.TarInfo], None]
FRAME = b"a frame"
WHOLE = Unpacking("me/tiny: rgb.tar", "sha256:0", {})


def tar_with(*infos: tarfile.TarInfo, cut: int | None = None) -> bytes:
    """A tar of one sound file and these members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info in (named("rgb/00000.webp"), *infos):
            content = io.BytesIO(FRAME) if info.isreg() else None
            info.size = len(FRAME) if content else 0
            tar.addfile(info, content)
    return buffer.getvalue()[:cut]


def named(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def huge() -> bytes:
    """A header that promises a terabyte."""
    info = named("rgb/00001.webp")
    info.size = 2**40
    header = info.tobuf(tarfile.GNU_FORMAT)
    return tar_with()[:1024] + header + b"\0" * 2048


def endless_header(kind: bytes) -> bytes:
    """What describes the next member in a gigabyte, that would be read into memory at once."""
    header = named("././@PaxHeader", kind)
    header.size = 2**30
    return header.tobuf(tarfile.GNU_FORMAT) + b"\0" * 2048


def sparse() -> bytes:
    """A file of a terabyte that is all hole."""
    settings = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": str(2**40)}
    info = named("rgb/00001.webp")
    info.pax_headers = {**settings, "GNU.sparse.name": info.name, "GNU.sparse.map": "0,7"}
    return tar_with(info)


def chained() -> bytes:
    """Thousands of headers, each of which announces another."""
    header = named("././@LongLink", tarfile.GNUTYPE_LONGNAME)
    header.size = 1
    return (header.tobuf(tarfile.GNU_FORMAT) + b"a".ljust(512, b"\0")) * 5000


MALICIOUS = {
    "chained": (chained(), "no sound tar"),
    "parent": (tar_with(named("../evil.webp")), "climbs with '..'"),
    "inner parent": (tar_with(named("rgb/../../evil.webp")), "climbs with '..'"),
    "absolute": (tar_with(named("/tmp/evil.webp")), "is an absolute name"),
    "drive": (tar_with(named("C:/evil.webp")), "not every system can hold"),
    "backslash": (tar_with(named("..\\evil.webp")), "not every system can hold"),
    "newline": (tar_with(named("rgb/a\nb.webp")), "not every system can hold"),
    "trailing dot": (tar_with(named("rgb/00001.webp.")), "not every system can hold"),
    "long": (tar_with(named("rgb/" + "a" * 300)), "is too long a name"),
    "deep": (tar_with(named("a/" * 40 + "b")), "is too long a name"),
    "symlink": (tar_with(named("rgb/1", tarfile.SYMTYPE, "/etc/passwd")), "is a link"),
    "hard link": (tar_with(named("rgb/1", tarfile.LNKTYPE, "rgb/00000.webp")), "is a link"),
    "character device": (tar_with(named("rgb/1", tarfile.CHRTYPE)), "is a device or pipe"),
    "block device": (tar_with(named("rgb/1", tarfile.BLKTYPE)), "is a device or pipe"),
    "pipe": (tar_with(named("rgb/1", tarfile.FIFOTYPE)), "is a device or pipe"),
    "huge": (huge(), "more than any frame"),
    "sparse": (sparse(), "is a sparse file"),
    "endless pax header": (endless_header(tarfile.XHDTYPE), "no sound tar: a header of"),
    "endless global header": (endless_header(tarfile.XGLTYPE), "no sound tar: a header of"),
    "endless long name": (endless_header(tarfile.GNUTYPE_LONGNAME), "no sound tar: a header of"),
    "twice": (tar_with(named("rgb/00000.webp")), "are the same file on some systems"),
    "case": (tar_with(named("RGB/00000.WEBP")), "are the same file on some systems"),
    "composed": (
        tar_with(named("rgb/caf\u00e9.webp"), named("rgb/cafe\u0301.webp")),
        "are the same file on some systems",
    ),
    "dotted": (tar_with(named("./rgb/./00000.webp")), "are the same file on some systems"),
    "file and folder": (tar_with(named("rgb/00000.webp/a")), "is a file and a folder"),
    "our own list": (tar_with(named("rgb/.members.json")), "the name of our own list"),
    "cut off": (tar_with(cut=520), "is no sound tar"),
    "no tar": (b"not a tar at all" * 100, "is no sound tar"),
    "empty file": (b"", "is no sound tar"),
    "compressed": (b"\x1f\x8b" + b"\0" * 100, "is no sound tar"),
}


@pytest.mark.parametrize("name", MALICIOUS)
def test_a_malicious_archive_leaves_nothing(name: str, tmp_path: Path) -> None:
    content, problem = MALICIOUS[name]
    archive = tmp_path / "rgb.tar"
    archive.write_bytes(content)
    with pytest.raises(ManifestError, match=problem) as caught:
        unpack(archive, tmp_path / "out", WHOLE)
    assert caught.value.message.startswith("me/tiny: rgb.tar: ")
    assert [path.name for path in tmp_path.rglob("*")] == ["rgb.tar"]


@pytest.mark.parametrize("name", MALICIOUS)
def test_a_malicious_archive_on_the_hub_ends_the_fetch_with_nothing(
    hub: LocalHub, tmp_path: Path, name: str
) -> None:
    content, problem = MALICIOUS[name]
    desk = Desk(hub, tmp_path / "cache", workers=1)
    archive = "scenes/scene001/0/rgb.tar"
    hub.push(REPO, packed_files() | {archive: content})
    with pytest.raises(ManifestError, match=problem) as caught:
        desk.fetch()
    assert caught.value.message.startswith(f"{REPO}@main: {archive}: ")
    assert not [path for path in desk.cached() if "rgb" in path]
    assert desk.left_over() == []
    hub.push(REPO, packed_files())
    assert len(desk.fetch().samples) == 2
    assert {path.name for path in tmp_path.iterdir()} <= {"cache", "hf"}, "nothing is outside"


def test_an_archive_of_more_members_than_any_phase_has_is_refused(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "_MOST_MEMBERS", 3)
    desk = Desk(hub, tmp_path / "cache", workers=1)
    hub.push(REPO, packed_files({f"rgb/{number:05d}.webp": b"x" for number in range(4)}))
    with pytest.raises(ManifestError, match=r"'rgb/00003.webp' is one too many: refused"):
        desk.fetch()
    assert not [path for path in desk.cached() if "rgb" in path]
    assert desk.left_over() == []
    hub.push(REPO, packed_files())
    assert len(desk.fetch().samples) == 2


def test_members_land_in_the_folder_less_what_they_share(tmp_path: Path) -> None:
    archive = tmp_path / "v1.tar"
    archive.write_bytes(make_tar({"sam2/masks/1.png": b"one", "sam2/masks/2.png": b"two"}))
    unpack(archive, tmp_path / "v1", WHOLE)
    assert (tmp_path / "v1" / "1.png").read_bytes() == b"one"
    members = read_members(tmp_path / "v1")
    assert members is not None
    assert members.find("sam2/masks/2.png") == "2.png"
    assert members.find("sam2/masks/2.webp") == "2.png"
    assert members.find("sam2/masks/3.png") is None
    assert members.by_path["1.png"].size == 3


def test_folders_that_differ_are_kept(tmp_path: Path) -> None:
    archive = tmp_path / "fisheye.tar"
    archive.write_bytes(make_tar({"fisheye/left/1.webp": b"l", "fisheye/right/1.webp": b"r"}))
    unpack(archive, tmp_path / "fisheye", WHOLE)
    files = {path.relative_to(tmp_path / "fisheye").as_posix() for path in tmp_path.rglob("*.webp")}
    assert files == {"left/1.webp", "right/1.webp"}
    members = read_members(tmp_path / "fisheye")
    assert members is not None
    assert members.find("fisheye/2.webp") is None
    assert members.find("fisheye/1.webp") is None, "two have this stem"


def test_a_member_that_differs_from_its_checksum_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "rgb.tar"
    archive.write_bytes(make_tar({"rgb/1.webp": b"one"}))
    declared = Unpacking("rgb.tar", "sha256:0", {"rgb/1.webp": "sha256:" + "0" * 64})
    with pytest.raises(ManifestError, match=r"rgb/1.webp differs from its checksum"):
        unpack(archive, tmp_path / "out", declared)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_its_list_is_no_unpacked_archive(tmp_path: Path) -> None:
    assert read_members(tmp_path) is None
    (tmp_path / MEMBERS).write_text('{"schema": "other"}', encoding="utf-8")
    assert read_members(tmp_path) is None


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,3}(/[a-z]{1,3}){0,3}\.(png|npy)", fullmatch=True),
        st.binary(max_size=40),
        min_size=1,
        max_size=12,
    )
)
def test_what_is_packed_comes_out_again(
    tmp_path_factory: pytest.TempPathFactory, contents: dict[str, bytes]
) -> None:
    folders = {
        "/".join(name.split("/")[:end])
        for name in contents
        for end in range(1, name.count("/") + 1)
    }
    contents = {name: data for name, data in contents.items() if name not in folders}
    folder = tmp_path_factory.mktemp("tar")
    archive = folder / "some.tar"
    archive.write_bytes(make_tar(contents))
    unpack(archive, folder / "out", WHOLE)
    members = read_members(folder / "out")
    assert members is not None
    found = {m.name: (folder / "out" / p).read_bytes() for p, m in members.by_path.items()}
    assert found == contents


def test_checksums_of_the_release_are_read_by_where_files_are() -> None:
    document = {"sha256": {"extracted/scenes/a/0/rgb/1.webp": "A" * 64, "scenes/a/0/x.tar": None}}
    found = read_checksums(document, source="file_checksums.json")
    assert found == {"scenes/a/0/rgb/1.webp": "sha256:" + "a" * 64}


@pytest.mark.parametrize("document", [[], {}, {"sha256": []}, {"sha256": {"a": "md5"}}])
def test_checksums_that_are_none_are_an_error(document: object) -> None:
    with pytest.raises(ManifestError, match="checksums"):
        read_checksums(document, source="checksums.json")


@pytest.mark.parametrize(
    "damaged", ["{", "[]", '{"schema": "rpx-members-1", "members": [5]}', "\x00"]
)
def test_a_damaged_list_of_members_is_none(tmp_path: Path, damaged: str) -> None:
    (tmp_path / MEMBERS).write_text(damaged)
    assert read_members(tmp_path) is None
