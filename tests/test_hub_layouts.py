"""Where listed files are in a repository, and which manifest serves a task."""

from __future__ import annotations

import pytest

from rpx_core.errors import ConfigError, DownloadError, ManifestError
from rpx_core.hub.layouts import Layout, label_versions
from rpx_core.hub.listing import HubFile, Listing, build_listing, read_listing, read_tree
from rpx_core.hub.origin import Origin
from rpx_core.hub.recipes import find_recipe, modality_keys

ORIGIN = Origin("me/tiny", "main")


def listing(*paths: str) -> Listing:
    return build_listing("0" * 40, (HubFile(path, 1, "") for path in paths))


RELEASED = listing(
    "scenes/scene001/0/rgb.tar",
    "scenes/scene001/0/labels/masks/v1.tar",
    "scenes/scene001/0/labels/masks/v2.tar",
    "scenes/scene001/0/labels/sam2_meta/v1.tar",
    "scenes/scene001/ego/rgb.tar",
    "manifests/segmentation/easy.json",
    "manifests/segmentation/hard.json",
    "manifests/ego_segmentation/easy.json",
    "manifests/monocular_depth/hard.json",
)


@pytest.mark.parametrize(
    ("listed", "archive", "member"),
    [
        ("extracted/scenes/scene001/0/rgb/00113.webp", "0/rgb.tar", "rgb/00113.webp"),
        ("scenes/scene001/0/rgb/00113.webp", "0/rgb.tar", "rgb/00113.webp"),
        ("./scenes/scene001/0/rgb/00113.webp", "0/rgb.tar", "rgb/00113.webp"),
        ("extracted/scenes/scene001/ego/rgb/1.webp", "ego/rgb.tar", "rgb/1.webp"),
        (
            "extracted/scenes/scene001/0/sam2/masks/00113.png",
            "0/labels/masks/v2.tar",
            "sam2/masks/00113.png",
        ),
        (
            "scenes/scene001/0/sam2/mask_to_object.json",
            "0/labels/sam2_meta/v1.tar",
            "sam2/mask_to_object.json",
        ),
    ],
)
def test_a_listed_file_is_found_in_its_archive(listed: str, archive: str, member: str) -> None:
    place = Layout(RELEASED, {"masks": "v2"}).find(listed)
    assert place is not None
    assert place.file.path == f"scenes/scene001/{archive}"
    assert place.member == member
    assert place.folder == place.file.path.removesuffix(".tar")


@pytest.mark.parametrize(
    "listed",
    [
        "scenes/scene001/0/depth/1.png",
        "scenes/scene001/0/tracklets/v1.json",
        "../scenes/scene001/0/rgb/1.webp",
        "/etc/passwd",
        "",
    ],
)
def test_what_the_repository_does_not_hold_is_nowhere(listed: str) -> None:
    assert Layout(RELEASED).find(listed) is None


def test_a_plain_file_comes_before_an_archive() -> None:
    both = listing("scenes/a/0/rgb.tar", "scenes/a/0/rgb/1.png")
    place = Layout(both).find("extracted/scenes/a/0/rgb/1.png")
    assert place is not None
    assert (place.file.path, place.member) == ("scenes/a/0/rgb/1.png", None)


def test_the_other_modalities_of_a_frame_are_beside_it() -> None:
    early = Layout(listing("scenes/a/0/rgb/00001.png", "scenes/a/0/pose/00001.npz"))
    place = early.beside("scenes/a/0/rgb/00001.png", "pose")
    assert place is not None
    assert place.file.path == "scenes/a/0/pose/00001.npz"
    assert early.beside("scenes/a/0/rgb/00001.png", "depth") is None
    assert early.beside("somewhere/else.png", "pose") is None
    assert not early.is_packed
    assert Layout(RELEASED).is_packed


def test_label_versions_are_those_of_the_release_if_they_are_names() -> None:
    document = {"label_versions": {"masks": "v2", "cam_pose": "../../v1"}}
    assert label_versions(document) == {"masks": "v2"}
    assert label_versions(None) == label_versions({"label_versions": []}) == {}


def test_the_manifest_of_the_task_or_of_its_recipe_is_found() -> None:
    hard = find_recipe(RELEASED, ORIGIN, "object_segmentation", "hard")
    assert hard.paths == ("manifests/segmentation/hard.json",)
    every = find_recipe(RELEASED, ORIGIN, "object_segmentation", None)
    assert every.paths == (
        "manifests/segmentation/easy.json",
        "manifests/segmentation/hard.json",
    )
    ego = find_recipe(RELEASED, ORIGIN, "object_segmentation", "easy", "ego_segmentation")
    assert ego.paths == ("manifests/ego_segmentation/easy.json",)
    views = find_recipe(RELEASED, ORIGIN, "novel_view_synthesis", "hard")
    assert (views.paths, views.adds) == (("manifests/monocular_depth/hard.json",), ("pose",))


@pytest.mark.parametrize(
    ("task", "split"), [("monocular_depth", "easy"), ("object_detection", None)]
)
def test_a_manifest_that_is_not_there_is_said_with_those_that_are(
    task: str, split: str | None
) -> None:
    with pytest.raises(ManifestError, match=f"no manifest for {task}") as caught:
        find_recipe(RELEASED, ORIGIN, task, split)
    assert "segmentation: easy, hard" in str(caught.value.hint)


def test_modalities_have_the_names_of_records_and_of_the_release() -> None:
    assert modality_keys(["cam_pose", "pose", "fisheye"]) == (
        "pose",
        "fisheye_left",
        "fisheye_right",
    )
    with pytest.raises(ConfigError, match="no modality 'sound'"):
        modality_keys(["sound"])


def test_a_listing_survives_being_stored() -> None:
    assert read_listing(RELEASED.document()) == RELEASED
    with pytest.raises(ValueError, match="not a listing"):
        read_listing({"schema": "rpx-listing-2"})


@pytest.mark.parametrize("items", [{}, [{"type": "file"}], [{"path": "a", "size": -1}], ["a"]])
def test_an_answer_that_is_no_tree_is_an_error_of_the_hub(items: object) -> None:
    with pytest.raises(DownloadError, match="tree of me/tiny"):
        read_tree(items, source="tree of me/tiny")


def test_folders_and_unsafe_names_are_left_out_of_a_tree() -> None:
    names = ["a/b.png", "../c.png", "/d.png", "e\\f.png", ".hidden", "g/./h.png", "C:/i.png"]
    items = [{"type": "file", "path": name, "size": 1} for name in names]
    folder = {"type": "directory", "path": "a"}
    assert [file.path for file in read_tree([folder, *items], source="")] == ["a/b.png"]
