"""Options as they count: files by what they hold, sets in order, and never a path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from rpx_core.documents import to_json
from rpx_core.errors import ConfigError
from rpx_core.identity import path_digest


@dataclass(frozen=True)
class Plain:
    """Options without paths, and the digests of what the paths lead to, by dotted name."""

    options: Any
    files: Mapping[str, str]


def plain_options(options: BaseModel, owner: str) -> Plain:
    """Split validated options; raises ConfigError naming the option whose file is missing."""
    return _plain(options, options.model_dump(mode="json"), f"options of {owner}")


def hidden_paths(options: Any, place: str) -> list[str]:
    """Names of options that are text, but look like the path of a file or folder.

    `options` are as `plain_options` gives them. Such a path is part of the identity of a run, and
    what lies there is not. Whether something lies there does not matter: all machines that share
    a run must say the same of it.
    """
    if isinstance(options, Mapping):
        parts = [(f"{place}.{key}", value) for key, value in options.items()]
        return [name for inner, value in parts for name in hidden_paths(value, inner)]
    if isinstance(options, list):
        return [name for value in options for name in hidden_paths(value, place)]
    is_path = isinstance(options, str) and len(options) > 1 and Path(options).is_absolute()
    return [place] if is_path else []


def _plain(value: Any, dumped: Any, place: str) -> Plain:
    """`dumped` is the value as JSON has it; `place` is what errors call it."""
    if isinstance(value, Path):
        return Plain(None, {"": _digest(value, place)})
    if isinstance(dumped, dict):
        inner = {
            key: _plain(one, dumped[key], f"{place}.{key}")
            for key, one in zip(dumped, _values(value, dumped), strict=True)
        }
        # What is a path has no value beside its digest.
        options = {key: part.options for key, part in inner.items() if "" not in part.files}
        return Plain(options, _files(inner))
    if isinstance(dumped, list) and isinstance(value, Sequence | AbstractSet):
        parts = [
            _plain(one, as_json, f"{place}.{number}")
            for number, (one, as_json) in enumerate(zip(value, dumped, strict=True))
        ]
        if isinstance(value, AbstractSet):
            # The order of a set is chance.
            parts.sort(key=lambda part: to_json([part.options, part.files]))
        return Plain([part.options for part in parts], _files(dict(enumerate(parts))))
    return Plain(dumped, {})


def _values(value: Any, dumped: Mapping[str, Any]) -> Iterable[Any]:
    """What stands behind each key of the JSON: of a mapping, or of a model or dataclass."""
    if isinstance(value, Mapping):
        return value.values()
    return [getattr(value, key, None) for key in dumped]


def _files(parts: Mapping[Any, Plain]) -> dict[str, str]:
    return {
        f"{key}.{below}" if below else str(key): digest
        for key, part in parts.items()
        for below, digest in part.files.items()
    }


def _digest(path: Path, place: str) -> str:
    hint = "an option that is a path names a file or folder that exists"
    if not path.is_file() and not path.is_dir():
        raise ConfigError(f"{place}: {path} is no file or folder", hint=hint)
    try:
        return path_digest(path)
    except OSError as error:
        problem = error.strerror or error
        raise ConfigError(f"{place}: {path} cannot be read: {problem}", hint=hint) from error
