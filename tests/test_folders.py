"""Walking folders: natural order, what is left out, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpx_core.errors import ManifestError, first_few
from rpx_core.folders import (
    IMAGES,
    files_below,
    files_by_stem,
    list_folder,
    list_folders,
    open_root,
    read_lines,
    walk_folders,
    warn_of_lonely,
)


def plant(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_folders_are_listed_in_natural_order_without_hidden_names(tmp_path: Path) -> None:
    plant(tmp_path, "a10.png", "a9.png", ".hidden.png", "b10/a", "b9/a", ".git/a")
    assert [path.name for path in list_folder(tmp_path)] == ["a9.png", "a10.png", "b9", "b10"]
    assert [path.name for path in list_folders(tmp_path)] == ["b9", "b10"]


def test_what_is_no_folder_holds_nothing(tmp_path: Path) -> None:
    plant(tmp_path, "a.png")
    assert list_folder(tmp_path / "a.png") == list_folder(tmp_path / "nowhere") == []
    assert files_below(tmp_path / "nowhere", IMAGES) == {}


def test_walking_visits_parents_first_and_follows_no_links(tmp_path: Path) -> None:
    plant(tmp_path, "b/y/1", "b/x/1", "a/1")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    found = [path.relative_to(tmp_path).as_posix() for path in walk_folders(tmp_path)]
    assert found == [".", "a", "b", "b/x", "b/y"]


def test_files_go_by_their_name_without_prefix_and_ending(tmp_path: Path) -> None:
    plant(tmp_path, "rgb_2.JPG", "rgb_10.png", "rgb_3.txt", "depth_2.png")
    assert list(files_by_stem(tmp_path, IMAGES, "rgb_")) == ["2", "10"]


def test_files_below_go_by_their_path_without_ending(tmp_path: Path) -> None:
    plant(tmp_path, "a.v2.png", "walk/10.png", "walk/9.png", "walk/note.txt")
    found = files_below(tmp_path, IMAGES)
    assert list(found) == ["a.v2", "walk/9", "walk/10"]
    assert found["walk/9"] == tmp_path / "walk" / "9.png"


def test_one_frame_in_two_files_is_refused(tmp_path: Path) -> None:
    plant(tmp_path, "walk/1.png", "walk/1.jpg")
    with pytest.raises(ManifestError, match=r"walk: 1\.jpg and 1\.png are the same frame twice"):
        files_below(tmp_path, IMAGES)


@pytest.mark.parametrize("name", ["a\x07.png", "a\n.png"])
def test_name_that_cannot_be_an_id_is_refused(tmp_path: Path, name: str) -> None:
    plant(tmp_path, name)
    with pytest.raises(ManifestError, match="printable"):
        list_folder(tmp_path)


def test_root_must_be_a_folder(tmp_path: Path) -> None:
    assert open_root(tmp_path / "." / "x" / "..") == tmp_path.resolve()
    with pytest.raises(ManifestError, match="nowhere: no such folder"):
        open_root(tmp_path / "nowhere")


def test_lonely_files_are_counted_and_the_first_ten_named() -> None:
    assert warn_of_lonely([]) == []
    assert warn_of_lonely(["a", "b"]) == ["2 files without counterpart: a, b"]
    (warning,) = warn_of_lonely([str(number) for number in range(12)])
    assert warning.startswith("12 files without counterpart: 0, 1,")
    assert warning.endswith(", 9 and 2 more")


def test_messages_show_the_first_of_many() -> None:
    assert first_few(["a", "b", "c"], 3) == "a, b, c"
    assert first_few(["a", "b", "c"], 2) == "a, b and 1 more"
    assert first_few([]) == ""


def test_lines_of_words_leave_out_empty_ones(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(b"\xef\xbb\xbfa b\r\n\n  \nc\n")
    assert read_lines(path) == [["a", "b"], ["c"]]
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ManifestError, match=r"list\.txt: is not UTF-8"):
        read_lines(path)
    with pytest.raises(ManifestError, match=r"nowhere\.txt"):
        read_lines(tmp_path / "nowhere.txt")
