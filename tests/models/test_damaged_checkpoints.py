"""Damaged checkpoints by name on the command line: one paragraph, the file, the next step."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save_file

from rpx_core.errors import ModelError, RPXError
from tests.commands import rpx
from tests.workshop import Workshop

TASKS = {"dpt": "monocular_depth", "mask2former": "object_segmentation"}
"""A kind of network for each way in which settings are read before weights."""
WEIGHTS = "model.safetensors"


@pytest.fixture
def folder(workshop: Workshop, tmp_path: Path, kind: str) -> Path:
    return Path(shutil.copytree(workshop.checkpoint(kind), tmp_path / "net"))


def cut(folder: Path) -> None:
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[: len(content) // 2])


def change(folder: Path, **settings: Any) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | settings))


def pickled(folder: Path) -> None:
    weights = load((folder / WEIGHTS).read_bytes())
    torch.save(weights, folder / WEIGHTS)


class Evil:
    """What opens a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self._mark), "w")


def evil(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    content = pickle.dumps({"weight": Evil(folder / "ran")})
    (folder / "pytorch_model.bin").write_bytes(content)


def other_shape(folder: Path) -> None:
    weights = load((folder / WEIGHTS).read_bytes())
    name = min(name for name, one in weights.items() if one.ndim == 1 and len(one) > 1)
    save_file(weights | {name: weights[name][:-1].clone()}, folder / WEIGHTS, {"format": "pt"})


DAMAGED: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "cut off": (cut, r"net/model\.safetensors is damaged: it has", "copy or download"),
    "no weights": (
        lambda at: (at / WEIGHTS).unlink(),
        r"net holds no weights",
        "save_pretrained",
    ),
    "config is text": (
        lambda at: (at / "config.json").write_text("hello"),
        r"net/config\.json is not JSON",
        "copy or download",
    ),
    "pickle": (pickled, r"net/model\.safetensors is a pickle file", "save_pretrained"),
    "pickle with code": (evil, r"net: its weights are a pickle file that", "safetensors"),
    "unknown network": (
        lambda at: change(at, model_type="nosuch"),
        r"net (cannot be loaded|has no configuration).*nosuch",
        "newer transformers",
    ),
    "network of another task": (
        lambda at: change(at, model_type="bert", architectures=["BertForMaskedLM"]),
        r"net is a BertForMaskedLM, which (estimates no depth|finds no segments)",
        "task",
    ),
    "wrong setting": (
        lambda at: change(at, hidden_size="lots", encoder_layers="lots"),
        r"net (cannot be loaded|has no configuration).*lots",
        "damaged",
    ),
    "other shape": (other_shape, r"net holds 1 of the weights .* in another shape", "copy both"),
    "no processor": (
        lambda at: (at / "preprocessor_config.json").unlink(),
        r"net has no preprocessor_config\.json, which says how images",
        "save_pretrained",
    ),
    "processor is a list": (
        lambda at: (at / "preprocessor_config.json").write_text("[1]"),
        r"net cannot be loaded",
        "damaged",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("kind", TASKS)
def test_a_damaged_checkpoint_is_one_error_with_the_next_step(
    workshop: Workshop, folder: Path, kind: str, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    damage, problem, hint = DAMAGED[name]
    damage(folder)
    capfd.readouterr()
    with pytest.raises(ModelError, match=problem) as caught:
        workshop.run(f"hf:{folder}", task=TASKS[kind])
    assert hint in str(caught.value.hint)
    assert "\n" not in caught.value.message
    assert not (folder / "ran").exists()
    assert capfd.readouterr() == ("", ""), "the error says it all"


@pytest.mark.parametrize("kind", ["dpt"])
def test_without_a_task_the_error_is_the_same(workshop: Workshop, folder: Path) -> None:
    (folder / "config.json").write_text("[]")
    with pytest.raises(ModelError, match=r"config\.json holds a list"):
        workshop.run(f"hf:{folder}")
    change_kind = {"model_type": "bert", "architectures": ["BertForMaskedLM"]}
    (folder / "config.json").write_text(json.dumps(change_kind))
    with pytest.raises(RPXError, match=r"its config\.json names BertForMaskedLM"):
        workshop.run(f"hf:{folder}")


@pytest.mark.parametrize("kind", ["dpt"])
def test_the_command_ends_with_the_code_of_a_usage_error(folder: Path, tmp_path: Path) -> None:
    cut(folder)
    told = rpx(tmp_path, "run", "--model", f"hf:{folder}", "--data", "motorcycle", expect=2)
    assert "is damaged" in told["error"]["message"]
    assert told["error"]["hint"]
