"""The code of the page on models runs as it stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.document_blocks import take
from tests.workshop import Workshop

SNIPPETS = take("docs/models.md", "python")


def test_models_from_python(
    workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "weights"
    weights.mkdir()
    for kind in ("dpt", "mask2former", "detr", "owlv2"):
        (weights / kind).symlink_to(workshop.checkpoint(kind), target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for snippet in SNIPPETS:
        # No GPU is promised here.
        exec(compile(snippet.text.replace("cuda:0", "cpu"), str(snippet), "exec"), names)
    for name in ("depth", "masks", "phrases"):
        names[name].setup()  # type: ignore[attr-defined]  # what the page makes
