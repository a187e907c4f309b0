"""A checkpoint comes from anyone: its weights and settings are read, its code never runs."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from rpx_core.errors import ModelError
from tests.workshop import Workshop

TASKS = {
    "dpt": "monocular_depth",
    "mask2former": "object_segmentation",
    "rt_detr": "object_detection",
    "segformer": "semantic_segmentation",
}
"""A kind of network for each way in which a checkpoint is loaded."""
CLASSES = (
    "AutoConfig",
    "AutoImageProcessor",
    "AutoModelForDepthEstimation",
    "AutoModelForObjectDetection",
    "AutoModelForUniversalSegmentation",
)


@pytest.fixture
def folder(workshop: Workshop, tmp_path: Path, kind: str) -> Path:
    return Path(shutil.copytree(workshop.checkpoint(kind), tmp_path / "net"))


@pytest.mark.parametrize("file", ["config.json", "preprocessor_config.json"])
@pytest.mark.parametrize("kind", TASKS)
def test_code_beside_the_weights_does_not_run(
    workshop: Workshop, folder: Path, kind: str, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda *_: "y")  # what transformers may ask
    mark = folder / "ran"
    (folder / "evil.py").write_text(f"open({str(mark)!r}, 'w')\n\nclass Evil:\n    pass\n")
    settings = json.loads((folder / file).read_text())
    settings |= {"model_type": "evil", "auto_map": dict.fromkeys(CLASSES, "evil.Evil")}
    if file != "config.json":
        settings["image_processor_type"] = "Evil"
    (folder / file).write_text(json.dumps(settings))
    with pytest.raises(ModelError, match=r"cannot be loaded|has no configuration"):
        workshop.run(f"hf:{folder}", task=TASKS[kind])
    assert not mark.exists()


@pytest.mark.parametrize("kind", TASKS)
def test_a_pipe_in_the_folder_is_refused(workshop: Workshop, folder: Path, kind: str) -> None:
    os.mkfifo(folder / "extra.json")
    with pytest.raises(ModelError, match=r"holds what is no file: extra\.json"):
        workshop.run(f"hf:{folder}", task=TASKS[kind])


@pytest.mark.parametrize("kind", ["dpt"])
def test_a_folder_of_checkpoints_names_them(workshop: Workshop, folder: Path) -> None:
    with pytest.raises(ModelError, match="no checkpoint") as caught:
        workshop.run(f"hf:{folder.parent}", task="monocular_depth")
    assert "net" in str(caught.value.hint)
