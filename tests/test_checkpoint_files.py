"""Damaged folders of weights: which file, what is wrong with it, and what to do."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from rpx_core.checkpoint_files import check_folder
from rpx_core.checkpoints import local_config
from rpx_core.errors import ModelError
from rpx_core.identity import path_digest

WEIGHTS = "model.safetensors"
INDEX = f"{WEIGHTS}.index.json"
AGAIN = "copy or download the folder again"


def safetensors(values: bytes = b"\0" * 16) -> bytes:
    """Two tensors, as the format has them."""
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
        "b": {"dtype": "F32", "shape": [3], "data_offsets": [4, 16]},
    }
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + values


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound checkpoint."""
    made = tmp_path / "net"
    made.mkdir()
    # Some published configurations hold what is no JSON by the letter.
    (made / "config.json").write_text('{"model_type": "dpt", "time_step_limit": [0.0, Infinity]}')
    (made / WEIGHTS).write_bytes(safetensors())
    return made


def shards(folder: Path, *there: str) -> None:
    """Weights in two files by an index, of which these are there."""
    (folder / WEIGHTS).unlink()
    names = {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": names}))
    for name in there:
        (folder / name).write_bytes(safetensors())


def index_of(folder: Path, name: str) -> None:
    """An index that takes its one tensor from this file, which is there wherever it points."""
    (folder.parent / "outside.safetensors").write_bytes(safetensors())
    (folder / INDEX).write_text(json.dumps({"weight_map": {"a": name}}))


Damage = Callable[[Path], object]
DAMAGED: dict[str, tuple[Damage, str, str, str]] = {
    "config is text": (
        lambda at: (at / "config.json").write_text("hello"),
        "config.json",
        "is not JSON",
        AGAIN,
    ),
    "config is a list": (
        lambda at: (at / "config.json").write_text("[]"),
        "config.json",
        "holds a list; an object was expected",
        AGAIN,
    ),
    "config is empty": (
        lambda at: (at / "config.json").write_text(""),
        "config.json",
        "is not JSON",
        AGAIN,
    ),
    "config is nested without end": (
        lambda at: (at / "config.json").write_text("[" * 100_000),
        "config.json",
        "is not JSON",
        AGAIN,
    ),
    "config is missing": (
        lambda at: (at / "config.json").unlink(),
        "",
        "is no checkpoint: it has no config.json",
        "save_pretrained()",
    ),
    "weights are missing": (
        lambda at: (at / WEIGHTS).unlink(),
        "",
        "holds no weights: model.safetensors was expected",
        AGAIN,
    ),
    "values are cut off": (
        lambda at: (at / WEIGHTS).write_bytes(safetensors()[:-5]),
        WEIGHTS,
        "is damaged: it has",
        AGAIN,
    ),
    "header is cut off": (
        lambda at: (at / WEIGHTS).write_bytes(safetensors()[:40]),
        WEIGHTS,
        "is damaged: it ends after 40 bytes, within its header",
        AGAIN,
    ),
    "weights are empty": (
        lambda at: (at / WEIGHTS).write_bytes(b""),
        WEIGHTS,
        "is damaged: it has no header",
        AGAIN,
    ),
    "weights go on": (
        lambda at: (at / WEIGHTS).write_bytes(safetensors() + b"more"),
        WEIGHTS,
        "is damaged: it has",
        AGAIN,
    ),
    "header is no JSON": (
        lambda at: (at / WEIGHTS).write_bytes(safetensors().replace(b"{", b"<")),
        WEIGHTS,
        "its header is none of safetensors",
        AGAIN,
    ),
    "header lists no offsets": (
        lambda at: (at / WEIGHTS).write_bytes(
            safetensors().replace(b"data_offsets", b"data_outsets")
        ),
        WEIGHTS,
        "its header is none of safetensors",
        AGAIN,
    ),
    "header is of a web page": (
        lambda at: (at / WEIGHTS).write_bytes(b"<!DOCTYPE html><html>"),
        WEIGHTS,
        "it has no header of safetensors",
        AGAIN,
    ),
    "zip of torch under the name of safetensors": (
        lambda at: (at / WEIGHTS).write_bytes(b"PK\x03\x04" + b"\0" * 90),
        WEIGHTS,
        "is a pickle file",
        "save_pretrained()",
    ),
    "pickle under the name of safetensors": (
        lambda at: (at / WEIGHTS).write_bytes(pickle.dumps({"a": [1.0] * 20})),
        WEIGHTS,
        "is a pickle file",
        "save_pretrained()",
    ),
    "pointer of Git LFS": (
        lambda at: (at / WEIGHTS).write_bytes(b"version https://git-lfs.github.com/spec/v1\noid"),
        WEIGHTS,
        "is a pointer of Git LFS",
        "git lfs pull",
    ),
    "pickled weights are none": (
        lambda at: (at / WEIGHTS).rename(at / "pytorch_model.bin"),
        "pytorch_model.bin",
        "is damaged: torch.save() writes no such file",
        AGAIN,
    ),
    "a file of several is missing": (
        lambda at: shards(at, "model-1-of-2.safetensors"),
        "",
        "lacks 1 of the 2 files of weights that model.safetensors.index.json lists: "
        "model-2-of-2.safetensors",
        AGAIN,
    ),
    "index is no JSON": (
        lambda at: (at / WEIGHTS).rename(at / INDEX),
        INDEX,
        "is not",
        "",
    ),
    "index is a list": (
        lambda at: (shards(at), (at / INDEX).write_text('{"weight_map": []}')),
        INDEX,
        "an object `weight_map` of file names was expected",
        AGAIN,
    ),
    **{
        f"index names {name}": (
            lambda at, name=name: (shards(at), index_of(at, name)),
            INDEX,
            f"`weight_map` names {name!r}; plain names of files in this folder were expected",
            "beside it",
        )
        for name in ("../outside.safetensors", "/tmp/a.safetensors", "a\\b", "sub/a", "..", "")
    },
    "index of another name leads out of the folder": (
        lambda at: (at / "other.safetensors.index.json").write_text(
            '{"weight_map": {"a": "../outside.safetensors"}}'
        ),
        "other.safetensors.index.json",
        "`weight_map` names '../outside.safetensors'",
        "beside it",
    ),
    "config names weights in another folder": (
        lambda at: (at / "config.json").write_text('{"transformers_weights": "sub/a.safetensors"}'),
        "config.json",
        "`transformers_weights` names 'sub/a.safetensors'",
        "beside it",
    ),
    "pipe": (
        lambda at: os.mkfifo(at / "extra.json"),
        "",
        "holds what is no file: extra.json",
        "pipes",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_checkpoint_is_named_with_the_file_and_the_next_step(
    folder: Path, name: str
) -> None:
    damage, file, problem, hint = DAMAGED[name]
    damage(folder)
    with pytest.raises(ModelError) as caught:
        check_folder(folder)
    assert str(folder / file) in caught.value.message
    assert problem in caught.value.message
    assert hint in str(caught.value.hint)


def test_sound_folders_pass(folder: Path) -> None:
    check_folder(folder)
    (folder / WEIGHTS).rename(folder / "blob")
    (folder / WEIGHTS).symlink_to("blob")  # as in the cache of the hub
    check_folder(folder)
    shards(folder, "model-1-of-2.safetensors", "model-2-of-2.safetensors")
    check_folder(folder)


def test_weights_behind_a_link_identify_a_checkpoint_by_their_content(
    folder: Path, tmp_path: Path
) -> None:
    blob = tmp_path / "blob"
    (folder / WEIGHTS).rename(blob)
    (folder / WEIGHTS).symlink_to(blob)
    before = path_digest(folder)
    blob.write_bytes(safetensors(b"\1" * 16))
    check_folder(folder)
    assert path_digest(folder) != before


def test_pickled_weights_alone_are_left_to_the_loader_that_reads_tensors_only(
    folder: Path,
) -> None:
    (folder / WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": 1.0}))
    check_folder(folder)


def test_a_folder_of_checkpoints_names_those_in_it(folder: Path) -> None:
    with pytest.raises(ModelError, match="is no checkpoint") as caught:
        check_folder(folder.parent)
    assert caught.value.hint == "name one of those in it: net"


@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_a_broken_configuration_is_an_error_where_the_task_is_looked_up(
    folder: Path, content: str
) -> None:
    (folder / "config.json").write_text(content)
    with pytest.raises(ModelError, match=r"config\.json"):
        local_config({"checkpoint": str(folder)})
