"""What a record says, as one digest that does not depend on where the dataset lies."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from rpx_core.documents import to_json
from rpx_core.records import Record


def record_digest(record: Record, root: Path) -> bytes:
    """SHA-256 of a record; absolute paths inside the root count as if relative to it."""
    return hashlib.sha256(to_json(_relative(record.model_dump(mode="json"), root))).digest()


def _relative(value: Any, root: Path) -> Any:
    if isinstance(value, str):
        return _relative_path(value, root) if os.path.isabs(value) else value
    if isinstance(value, list):
        return [_relative(item, root) for item in value]
    if isinstance(value, dict):
        return {_relative(key, root): _relative(item, root) for key, item in value.items()}
    return value


def _relative_path(text: str, root: Path) -> str:
    path = Path(text)
    if not path.is_relative_to(root):
        try:
            # The root is known without links, but the path may use one to get there.
            path = Path(os.path.realpath(path.parent)) / path.name
        except (OSError, ValueError):
            return text
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else text
