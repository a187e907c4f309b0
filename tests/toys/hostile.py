"""Plugins that fail in every way we know of, each with words that the host must say about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hostile:
    """A plugin's source or metadata, and what the problem must mention."""

    source: str = ""
    metadata: str = ""
    says: str = ""


HOSTILE = {
    "import-error": Hostile(
        source="import a_library_that_is_missing",
        says="ModuleNotFoundError: No module named 'a_library_that_is_missing'",
    ),
    "system-exit": Hostile(
        source="raise SystemExit('no GPU')",
        says="import of rpx_system_exit failed: SystemExit: no GPU",
    ),
    "unknown-hook": Hostile(
        source="@hookimpl\ndef rpx_modells():\n    return []",
        says="unknown hook rpx_modells; did you mean rpx_models?",
    ),
    "raising-hook": Hostile(
        source="@hookimpl\ndef rpx_models():\n    raise OSError('weights folder is gone')",
        says="rpx_models failed: OSError: weights folder is gone",
    ),
    "non-spec": Hostile(
        source="@hookimpl\ndef rpx_models():\n    return [object()]",
        says="rpx_models offers an object of type object, expected an iterable of ModelSpec",
    ),
    "duplicate-names": Hostile(
        source="@hookimpl\ndef rpx_models():\n    return [model('twin'), model('twin')]",
        says="rpx_models offers model 'twin' more than once",
    ),
    "newer-core": Hostile(
        source="raise RuntimeError('must not be imported')",
        metadata="Requires-Dist: rpx-core>=9",
        says="requires rpx-core>=9, but 0.1.0 is installed",
    ),
}
