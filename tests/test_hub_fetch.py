"""What is fetched from a hub: only what is needed, once, whole and verified, or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rpx_core.errors import ConfigError, DownloadError, ManifestError
from rpx_core.hub.origin import RELEASE, RELEASE_COMMIT, choose_origin
from tests.hub_desk import REPO, Desk, manifest_of, packed_files, plain_files
from tests.local_hub import Asked, Fault, LocalHub

RGB0 = "scenes/scene001/0/rgb/00000.png"
MANIFEST = "manifests/monocular_depth/hard.json"
LONG = bytes(range(250)) * 1200


@pytest.fixture
def desk(hub: LocalHub, tmp_path: Path) -> Desk:
    hub.push(REPO, plain_files())
    return Desk(hub, tmp_path / "cache")


def test_only_what_task_and_split_need_is_fetched(desk: Desk) -> None:
    other = plain_files(scene="scene002")
    easy = {"manifests/monocular_depth/easy.json": other.pop(MANIFEST)}
    masks = {"scenes/scene001/0/mask/00000.png": b"mask"}
    desk.hub.push(REPO, plain_files() | other | easy | masks)
    fetched = desk.fetch()
    assert len(fetched.samples) == 5
    assert set(desk.hub.fetched()) == set(plain_files())


def test_a_second_call_asks_only_which_commit_the_branch_is(desk: Desk) -> None:
    first = desk.fetch()
    desk.hub.asked.clear()
    assert desk.fetch() == first
    assert [asked.path for asked in desk.hub.asked] == [f"/api/datasets/{REPO}/revision/main"]


def test_a_commit_that_is_there_needs_no_request_at_all(desk: Desk) -> None:
    commit = desk.fetch().commit
    desk.hub.asked.clear()
    assert desk.fetch(commit).commit == commit
    assert desk.hub.asked == []


def test_without_network_what_is_there_is_enough(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    online = desk.fetch()
    desk.hub.asked.clear()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert desk.fetch() == online
    assert desk.hub.asked == []


def test_without_network_an_empty_cache_says_what_to_do(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DownloadError, match="nothing of me/tiny@main is in the cache") as caught:
        desk.fetch()
    assert "unset HF_HUB_OFFLINE" in str(caught.value.hint)


@pytest.mark.parametrize("damage", ["removed", "shortened"])
def test_a_part_of_the_data_is_never_taken_for_the_whole(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    fetched = desk.fetch()
    file = fetched.root / RGB0
    content = file.read_bytes()
    file.unlink() if damage == "removed" else file.write_bytes(content[:-1])
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DownloadError, match="1 of 10 files are not in the cache") as caught:
        desk.fetch()
    assert caught.value.details["missing"] == [RGB0]
    monkeypatch.delenv("HF_HUB_OFFLINE")
    desk.hub.asked.clear()
    assert desk.fetch() == fetched
    assert file.read_bytes() == content
    assert desk.hub.fetched() == [RGB0]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again_after_a_growing_wait(desk: Desk, status: int) -> None:
    desk.hub.fail(RGB0, Fault(status=status), Fault(status=status))
    assert len(desk.fetch().samples) == 5
    assert desk.waits == [0.5, 1.0]


def test_the_hub_may_ask_for_a_longer_wait(desk: Desk) -> None:
    desk.hub.fail("revision", Fault(status=429, headers={"Retry-After": "17"}))
    desk.fetch()
    assert desk.waits == [17.0]


@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.parametrize("where", ["revision", "tree", MANIFEST, RGB0])
def test_what_does_not_pass_ends_with_nothing_half_and_can_be_done_again(
    desk: Desk, status: int, where: str
) -> None:
    desk.hub.fail(where, *[Fault(status=status)] * 3)
    with pytest.raises(DownloadError, match=f"HTTP {status}") as caught:
        desk.fetch()
    assert "run the command again" in str(caught.value.hint)
    assert RGB0 not in desk.cached()
    assert len(desk.fetch().samples) == 5


@pytest.mark.parametrize(
    ("status", "code", "message", "hint"),
    [
        (401, "", "wants a valid token", "HF_TOKEN"),
        (403, "", "may not read", "ask its owner for access"),
        (403, "GatedRepo", "is gated", "datasets/me/tiny"),
        (404, "EntryNotFound", f"there is no {RGB0}", "--revision"),
        (404, "", f"there is no {RGB0}", "--revision"),
        (416, "", "refuses", "HF_ENDPOINT"),
    ],
)
def test_a_refusal_is_not_tried_again_and_says_what_to_do(
    desk: Desk, status: int, code: str, message: str, hint: str
) -> None:
    desk.hub.fail(RGB0, Fault(status=status, code=code))
    with pytest.raises(DownloadError, match=message) as caught:
        desk.fetch()
    assert hint in str(caught.value.hint)
    assert desk.waits == []
    assert RGB0 not in desk.cached()
    assert len(desk.fetch().samples) == 5


def test_a_missing_revision_and_a_missing_repository_are_told_apart(desk: Desk) -> None:
    with pytest.raises(DownloadError, match="no revision 'v9'"):
        desk.fetch("v9")
    desk.hub.push(REPO, plain_files(), "v9")
    assert len(desk.fetch("v9").samples) == 5
    desk.hub.branches.clear()
    with pytest.raises(DownloadError, match="no such dataset, or it is private"):
        desk.fetch()
    desk.hub.push(REPO, plain_files())
    assert len(desk.fetch().samples) == 5


def test_a_private_repository_opens_with_the_token_which_no_other_host_sees(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.hub.tokens[REPO] = "hf_secret"
    with pytest.raises(DownloadError, match="wants a valid token"):
        desk.fetch()
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    desk.hub.asked.clear()
    desk.fetch()
    assert {asked.token for asked in desk.hub.asked if "/lfs/" in asked.path} == {None}
    assert {asked.token for asked in desk.hub.asked if "/api/" in asked.path} == {
        "Bearer hf_secret"
    }


def test_a_gated_repository_says_where_to_ask_for_access(desk: Desk) -> None:
    desk.hub.tokens[REPO] = "gated"
    with pytest.raises(DownloadError, match="gated") as caught:
        desk.fetch()
    assert f"{desk.hub.url}/datasets/{REPO}" in str(caught.value.hint)
    assert desk.cached() == set()
    desk.hub.tokens.clear()
    assert len(desk.fetch().samples) == 5


def test_a_hub_that_is_not_there_is_a_network_problem(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DownloadError, match=r"http://127.0.0.1:9 cannot be reached") as caught:
        desk.fetch()
    assert "HF_HUB_OFFLINE=1" in str(caught.value.hint)


def test_a_connection_that_breaks_is_continued_where_it_broke(desk: Desk) -> None:
    desk.hub.push(REPO, plain_files() | {RGB0: LONG})
    desk.hub.fail(RGB0, Fault(cut_at=200_000))
    fetched = desk.fetch()
    first, second = [a for a in desk.hub.asked if a.path.endswith(RGB0) and "/lfs/" in a.path]
    assert (first.status, first.range, second.status) == (200, None, 206)
    assert begins_at(second) > 100_000
    assert (fetched.root / RGB0).read_bytes() == LONG


def test_a_broken_download_is_continued_by_the_next_call(desk: Desk) -> None:
    desk.hub.push(REPO, plain_files() | {RGB0: LONG})
    desk.attempts = 1
    desk.hub.fail(RGB0, Fault(cut_at=200_000))
    with pytest.raises(DownloadError, match="cannot be reached"):
        desk.fetch()
    assert RGB0 not in desk.cached()
    desk.hub.asked.clear()
    fetched = desk.fetch()
    (again,) = [a for a in desk.hub.asked if a.path.endswith(RGB0) and "/lfs/" in a.path]
    assert begins_at(again) > 100_000
    assert (fetched.root / RGB0).read_bytes() == LONG
    assert desk.left_over() == []


def test_a_server_that_always_breaks_off_at_the_same_place_is_given_up(desk: Desk) -> None:
    desk.hub.push(REPO, plain_files() | {RGB0: LONG})
    desk.hub.fail(RGB0, *[Fault(cut_at=200_000)] * 20)
    with pytest.raises(DownloadError, match="cannot be reached"):
        desk.fetch()
    assert len(desk.waits) <= desk.attempts


def test_a_damaged_body_of_the_right_length_is_fetched_again(desk: Desk) -> None:
    desk.hub.fail(RGB0, Fault(corrupt=True))
    fetched = desk.fetch()
    assert (fetched.root / RGB0).read_bytes() == plain_files()[RGB0]


@pytest.mark.parametrize("path", [RGB0, MANIFEST])
def test_a_body_that_stays_damaged_is_never_used(desk: Desk, path: str) -> None:
    desk.hub.fail(path, Fault(corrupt=True), Fault(corrupt=True))
    with pytest.raises(DownloadError, match=f"{path} is damaged on its way"):
        desk.fetch()
    assert RGB0 not in desk.cached()
    assert len(desk.fetch().samples) == 5


def test_bytes_left_over_from_something_else_are_found_out(desk: Desk) -> None:
    desk.attempts = 1
    desk.hub.fail(RGB0, Fault(cut_at=100))
    with pytest.raises(DownloadError):
        desk.fetch()
    for name in desk.left_over():
        (desk.cache / "hub" / "me%2Ftiny" / "incoming" / name).write_bytes(b"x" * 100)
    fetched = desk.fetch()
    assert (fetched.root / RGB0).read_bytes() == plain_files()[RGB0]


def test_a_long_listing_comes_in_pages(desk: Desk) -> None:
    desk.hub.page_size = 3
    assert len(desk.fetch().samples) == 5


def test_a_new_commit_takes_over_what_has_not_changed(desk: Desk) -> None:
    first = desk.fetch()
    changed = plain_files() | {RGB0: b"another picture"}
    desk.hub.push(REPO, changed | {"README.md": b"new"})
    desk.hub.asked.clear()
    second = desk.fetch()
    assert second.commit != first.commit
    assert desk.hub.fetched() == [RGB0]
    assert (second.root / RGB0).read_bytes() == b"another picture"
    assert (first.root / RGB0).read_bytes() == plain_files()[RGB0]


def test_a_new_commit_takes_over_archives_but_nothing_that_was_damaged(desk: Desk) -> None:
    desk.hub.push(REPO, packed_files())
    first = desk.fetch()
    (first.root / first.samples[0]["depth"]).write_bytes(b"DEPTH 00000")
    desk.hub.push(REPO, packed_files() | {"README.md": b"new"})
    desk.hub.asked.clear()
    second = desk.fetch()
    assert desk.hub.fetched() == ["scenes/scene001/0/depth.tar"]
    assert (second.root / second.samples[0]["depth"]).read_bytes() == b"depth 00000"
    assert (second.root / second.samples[0]["rgb"]).read_bytes() == b"rgb 00000"
    assert desk.left_over() == []


def test_samples_that_are_not_wanted_are_not_fetched(desk: Desk) -> None:
    fetched = desk.fetch(max_samples=2)
    assert (len(fetched.samples), fetched.of_samples) == (2, 5)
    assert len(desk.cached()) == 4


def test_all_splits_are_one_where_none_is_named(desk: Desk) -> None:
    easy = plain_files(scene="scene002")
    easy["manifests/monocular_depth/easy.json"] = easy.pop(MANIFEST)
    desk.hub.push(REPO, plain_files() | easy)
    assert len(desk.fetch(split=None).samples) == 10


def test_what_is_in_the_manifest_of_a_split_is_of_that_difficulty(desk: Desk) -> None:
    assert {sample["difficulty"] for sample in desk.fetch().samples} == {"hard"}
    files = plain_files()
    files["manifests/monocular_depth/test.json"] = files[MANIFEST]
    desk.hub.push(REPO, files)
    fetched = desk.fetch(split="test")
    assert "difficulty" not in fetched.samples[0]
    assert fetched.header["split"] == "test"


def test_a_manifest_that_is_not_there_says_which_are(desk: Desk) -> None:
    with pytest.raises(ManifestError, match="no manifest for monocular_depth, split easy") as one:
        desk.fetch(split="easy")
    assert "monocular_depth: hard" in str(one.value.hint)
    with pytest.raises(ManifestError, match="no manifest for sparse_depth"):
        desk.fetch(task="sparse_depth")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "is not JSON"),
        (b"[]", "an object with a list `samples`"),
        (b'{"samples": {}}', "an object with a list `samples`"),
        (b'{"samples": []}', "lists no samples"),
        (b'{"samples": [3]}', "an object was expected"),
        (
            manifest_of([{"id": "a", "rgb": "scenes/scene001/0/rgb/99999.png", "depth": RGB0}]),
            "lists scenes/scene001/0/rgb/99999.png, which the repository does not hold",
        ),
        (manifest_of([{"id": "a", "rgb": "../../etc/passwd.png", "depth": RGB0}]), "does not hold"),
    ],
)
def test_a_bad_manifest_is_named(desk: Desk, content: bytes, problem: str) -> None:
    desk.hub.push(REPO, plain_files() | {MANIFEST: content})
    with pytest.raises(ManifestError, match=problem) as caught:
        desk.fetch()
    assert REPO in caught.value.message
    assert caught.value.hint
    assert desk.cached() == set()
    desk.hub.push(REPO, plain_files())
    assert len(desk.fetch().samples) == 5


def test_keys_that_no_task_knows_are_a_warning(desk: Desk) -> None:
    document = json.loads(plain_files()[MANIFEST])
    document["samples"][0] |= {"detph": RGB0, "fisheye_left": RGB0}
    desk.hub.push(REPO, plain_files() | {MANIFEST: json.dumps(document).encode()})
    (warning,) = desk.fetch().warnings
    assert warning.endswith("keys that no task knows: detph")


@pytest.mark.parametrize("root", ["scenes", "./scenes/", None, "."])
def test_the_root_of_a_published_manifest_is_inside_the_repository(
    desk: Desk, root: str | None
) -> None:
    document = json.loads(plain_files()[MANIFEST]) | {"root": root}
    if root and "scenes" in root:
        for sample in document["samples"]:
            sample |= {key: sample[key].removeprefix("scenes/") for key in ("rgb", "depth")}
    desk.hub.push(REPO, plain_files() | {MANIFEST: json.dumps(document).encode()})
    assert desk.fetch().samples[0]["rgb"] == RGB0


def test_scenes_may_be_numbered(desk: Desk) -> None:
    entry = {"id": 7, "scene_id": 12, "phase": 0, "rgb": RGB0, "depth": RGB0}
    desk.hub.push(REPO, plain_files() | {MANIFEST: manifest_of([entry])})
    (sample,) = desk.fetch().samples
    assert (sample["id"], sample["scene"]) == ("7", "12")


def test_names_that_could_leave_the_cache_do_not_exist(desk: Desk) -> None:
    tricks = {"../../outside.png": b"x", "a\\b.png": b"x", ".rpx-listing.json": b"{}"}
    entry = {"id": "a", "rgb": "../../outside.png", "depth": RGB0}
    desk.hub.push(REPO, plain_files() | tricks | {MANIFEST: manifest_of([entry])})
    with pytest.raises(ManifestError, match="does not hold"):
        desk.fetch()


def test_a_folder_that_cannot_be_written_names_the_variable_to_set(
    desk: Desk, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    desk.cache = tmp_path / "file"
    with pytest.raises(DownloadError, match="cannot be written") as caught:
        desk.fetch()
    assert "RPX_CACHE_DIR" in str(caught.value.hint)


def test_an_archive_is_unpacked_and_only_what_is_needed_comes(desk: Desk) -> None:
    desk.hub.push(REPO, packed_files())
    fetched = desk.fetch()
    assert sorted(desk.hub.fetched())[1:] == [
        "scenes/scene001/0/depth.tar",
        "scenes/scene001/0/rgb.tar",
    ]
    first = fetched.samples[0]
    assert first["rgb"] == "scenes/scene001/0/rgb/00000.webp"
    assert (fetched.root / first["rgb"]).read_bytes() == b"rgb 00000"
    assert (first["scene"], first["frame"]) == ("scene001", 0)
    assert not list(fetched.root.glob("**/*.tar"))
    assert desk.left_over() == []


def test_further_modalities_are_found_beside_the_frame(desk: Desk) -> None:
    desk.hub.push(REPO, packed_files())
    fetched = desk.fetch(extra=("pose",))
    assert fetched.samples[1]["pose"] == "scenes/scene001/0/labels/cam_pose/v1/00001.npy"
    assert (fetched.root / fetched.samples[1]["pose"]).read_bytes() == b"pose 00001"
    with pytest.raises(ConfigError, match="no modality 'smell'"):
        desk.fetch(extra=("smell",))


def test_an_ending_that_changed_since_the_manifest_was_written_is_found(desk: Desk) -> None:
    files = packed_files({"rgb/00000.png": b"rgb 00000", "rgb/00001.png": b"rgb 00001"})
    desk.hub.push(REPO, files)
    assert desk.fetch().samples[0]["rgb"] == "scenes/scene001/0/rgb/00000.png"


def test_an_archive_without_a_listed_frame_is_named(desk: Desk) -> None:
    desk.hub.push(REPO, packed_files({"rgb/00000.webp": b"rgb 00000"}))
    with pytest.raises(ManifestError, match=r"rgb.tar holds no rgb/00001.webp"):
        desk.fetch()


def test_a_member_that_was_deleted_makes_its_archive_incomplete(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.hub.push(REPO, packed_files())
    fetched = desk.fetch()
    (fetched.root / fetched.samples[0]["rgb"]).unlink()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DownloadError, match=r"1 of 2 files.*rgb.tar"):
        desk.fetch()
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert desk.fetch() == fetched
    assert (fetched.root / fetched.samples[0]["rgb"]).read_bytes() == b"rgb 00000"


@pytest.mark.parametrize("name", ["checksums", "file_checksums"])
def test_a_release_that_contradicts_its_own_checksums_is_refused(desk: Desk, name: str) -> None:
    desk.workers = 1
    wrong = {
        "scenes/scene001/0/rgb.tar": "0" * 64,
        "extracted/scenes/scene001/0/rgb/00000.webp": "0" * 64,
    }
    checksums = json.dumps({"algorithm": "sha256", "sha256": wrong}).encode()
    desk.hub.push(REPO, packed_files() | {f"manifest/{name}.json": checksums})
    with pytest.raises((DownloadError, ManifestError), match=f"its checksum in .*{name}.json"):
        desk.fetch()
    assert not [path for path in desk.cached() if "/rgb/" in path]
    assert desk.left_over() == []


def test_the_release_is_pinned_and_other_repositories_are_not(
    monkeypatch: pytest.MonkeyPatch, hub: LocalHub
) -> None:
    assert str(choose_origin()) == f"{RELEASE}@{RELEASE_COMMIT}"
    assert str(choose_origin("me/tiny")) == "me/tiny@main"
    monkeypatch.setenv("RPX_HF_REPO", "you/yours")
    monkeypatch.setenv("RPX_HF_REVISION", "v2")
    assert str(choose_origin()) == "you/yours@v2"


@pytest.mark.parametrize("name", ["tiny", "me/../you", "me/tiny/x", "../x", "me/ti ny"])
def test_what_is_no_repository_is_an_error_of_the_user(name: str) -> None:
    with pytest.raises(ConfigError, match="no repository"):
        choose_origin(name)


def begins_at(asked: Asked) -> int:
    """Where the answer to a request for a range begins."""
    return int(str(asked.range).removeprefix("bytes=").removesuffix("-"))


def test_two_repositories_never_share_a_folder(tmp_path: Path) -> None:
    names = ("a__b/c", "a/b__c", "a/b")
    assert len({choose_origin(name).folder for name in names}) == len(names)
    assert all("/" not in choose_origin(name).folder for name in names)
