"""Pictures of a run directory as data URIs, small enough to travel inside a page."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, replace
from pathlib import Path

from rpx_core.errors import JournalError
from rpx_core.files import MEBIBYTE, read_file
from rpx_core.legends import Legend
from rpx_core.previews import find_legend

WIDTH_PX = 480
MAX_BYTES = 64 * MEBIBYTE
_MAX_PIXELS = 50_000_000


@dataclass(frozen=True)
class Embedded:
    """One picture of the page: `uri`, or a `note` that says why there is none."""

    caption: str
    uri: str = ""
    width: int = 0
    height: int = 0
    note: str = ""
    legend: Legend | None = None


def embed(caption: str, path: str, directory: Path | None) -> Embedded:
    """The picture at a path relative to the run directory, at most 480 px wide.

    A picture that is missing, damaged or outside the directory becomes a note.
    """
    from PIL import Image

    if directory is None:
        return Embedded(caption, note="picture not kept")
    try:
        file = _locate(path, directory)
        if not file.exists():
            return Embedded(caption, note="picture file is missing")
        content = read_file(file, source=path, limit=MAX_BYTES, error=JournalError)
        return replace(_encode(caption, content), legend=find_legend(file))
    except JournalError:
        return Embedded(caption, note="picture is no file that can be read")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return Embedded(caption, note="picture is too large to embed")
    except (OSError, ValueError, SyntaxError, RuntimeError):
        # Pillow raises any of these for damaged bytes, pathlib for impossible paths.
        return Embedded(caption, note="picture cannot be read")


def _locate(path: str, directory: Path) -> Path:
    """The file; raises ValueError when it lies outside the directory, links followed."""
    file = (directory / path).resolve()
    if not file.is_relative_to(directory.resolve()):
        raise ValueError(f"{path} leaves {directory}")
    return file


def _encode(caption: str, content: bytes) -> Embedded:
    from PIL import Image

    with Image.open(io.BytesIO(content), formats=("PNG",)) as image:
        if image.width * image.height > _MAX_PIXELS:
            raise Image.DecompressionBombError(f"{image.width} x {image.height} pixels")
        small = image.convert("RGB")
    small.thumbnail((WIDTH_PX, 2 * WIDTH_PX))
    stream = io.BytesIO()
    small.save(stream, "JPEG", quality=88)
    uri = f"data:image/jpeg;base64,{base64.b64encode(stream.getvalue()).decode()}"
    return Embedded(caption, uri, small.width, small.height)
