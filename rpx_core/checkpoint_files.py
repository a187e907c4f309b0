"""What a folder of weights must hold, looked at before the libraries that load it.

Those say of a damaged file that something failed, not which file it is or what to do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rpx_core.documents import read_text
from rpx_core.errors import ModelError, count_of, first_few, kind_of
from rpx_core.files import open_file

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
PROCESSOR_FILES = ("preprocessor_config.json", "processor_config.json")
"""Where processors say how images become the input: the second holds those of text as well."""

_PICKLED = "pytorch_model.bin"
_INDEX = ".index.json"
_POINTER = b"version https://git-lfs"
_PICKLES = (b"PK\x03\x04", b"\x80")
_HEADER_LIMIT = 100 * 2**20
"""What the format itself allows."""
_AGAIN = "copy or download the folder again, whole"


def check_folder(folder: Path) -> None:
    """Raise ModelError, naming the file, for a folder that is no whole checkpoint.

    Of weights in safetensors it is checked that they are all there; their values are not read.
    """
    odd = sorted(path.name for path in folder.iterdir() if not (path.is_file() or path.is_dir()))
    if odd:
        raise ModelError(
            f"{folder} holds what is no file: {odd[0]}",
            hint="pipes, devices and broken links do not belong into a checkpoint",
        )
    # The digest of the folder is what identifies the weights; a file beside it is not in there.
    named = read_config(folder).get("transformers_weights")
    if named is not None:
        _refuse_outside(folder / CONFIG_FILE, "transformers_weights", [named])
    # Under whatever name: the configuration may choose one.
    for index in sorted(folder.glob(f"*.safetensors{_INDEX}")) + sorted(
        folder.glob(f"*.bin{_INDEX}")
    ):
        _refuse_outside(index, "weight_map", _listed(index))
    for path in _weights(folder):
        if path.suffix == ".safetensors":
            _check_safetensors(path)
        else:
            _check_pickled(path)


def check_processor(folder: Path) -> None:
    """Raise ModelError for a checkpoint that does not say how images become its input."""
    if not any((folder / name).is_file() for name in PROCESSOR_FILES):
        raise ModelError(
            f"{folder} has no {PROCESSOR_FILES[0]}, which says how images become its input",
            hint="copy it from where the weights are from, or write it there with the "
            "save_pretrained() of the image processor",
        )


def read_config(folder: Path) -> Mapping[str, Any]:
    """The `config.json` of a folder; raises ModelError where there is none, or it is broken."""
    path = folder / CONFIG_FILE
    if not path.is_file():
        inside = sorted(inner.parent.name for inner in folder.glob(f"*/{CONFIG_FILE}"))
        raise ModelError(
            f"{folder} is no checkpoint: it has no {CONFIG_FILE}",
            hint=f"name one of those in it: {', '.join(inside[:5])}"
            if inside
            else "a checkpoint is what save_pretrained() writes",
        )
    return _read_object(path)


def _weights(folder: Path) -> list[Path]:
    """The files that a checkpoint is loaded from, those of an index all there."""
    for name in (WEIGHTS_FILE, _PICKLED):
        if (folder / name).is_file():
            return [folder / name]
        index = folder / f"{name}{_INDEX}"
        if index.is_file():
            return _indexed(index)
    raise ModelError(
        f"{folder} holds no weights: {WEIGHTS_FILE} was expected beside {CONFIG_FILE}",
        hint=f"{_AGAIN}; a checkpoint is what save_pretrained() writes",
    )


def _indexed(index: Path) -> list[Path]:
    names = _listed(index)
    missing = [name for name in names if not os.path.isfile(index.parent / name)]
    if missing:
        raise ModelError(
            f"{index.parent} lacks {len(missing)} of the {count_of(len(names), 'file')} of weights "
            f"that {index.name} lists: {first_few(missing, 3)}",
            hint=_AGAIN,
        )
    return [index.parent / name for name in names]


def _listed(index: Path) -> list[str]:
    """The names of the files that hold the weights, by an index of them."""
    table = _read_object(index).get("weight_map")
    if not isinstance(table, dict) or not all(isinstance(name, str) for name in table.values()):
        raise ModelError(f"{index}: an object `weight_map` of file names was expected", hint=_AGAIN)
    return sorted(set(table.values()))


def _refuse_outside(source: Path, key: str, names: Sequence[object]) -> None:
    outside = [name for name in names if not _is_plain(name)]
    if outside:
        raise ModelError(
            f"{source}: `{key}` names {outside[0]!r}; plain names of files in this folder were "
            "expected",
            hint="put the files of weights beside it, and name them without their folders",
        )


def _is_plain(name: object) -> bool:
    return isinstance(name, str) and bool(name.strip(".")) and not set(name) & set("/\\:\0")


def _check_safetensors(path: Path) -> None:
    """Eight bytes say how long the header is, which says where the values of each tensor end."""
    with open_file(path, source=str(path), error=ModelError) as stream:
        head = stream.read(64)
        _refuse_pointer(path, head)
        length = int.from_bytes(head[:8], "little")
        if head[8:9] != b"{" and head.startswith(_PICKLES):
            raise ModelError(
                f"{path} is a pickle file, as torch.save() writes it, where safetensors were "
                "expected",
                hint="write the checkpoint with save_pretrained(), or save_file() of safetensors",
            )
        size = path.stat().st_size
        if len(head) < 8 or length > _HEADER_LIMIT:
            raise _damaged(path, "it has no header of safetensors")
        stream.seek(8)
        header = stream.read(length)
    if len(header) < length:
        raise _damaged(path, f"it ends after {size} bytes, within its header")
    try:
        ends = [tensor["data_offsets"][1] for tensor in _tensors(json.loads(header))]
        expected = 8 + length + max(ends, default=0)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise _damaged(path, "its header is none of safetensors") from error
    if size != expected:
        raise _damaged(path, f"it has {size} bytes, and its header lists {expected}")


def _tensors(header: Any) -> list[Any]:
    return [tensor for name, tensor in header.items() if name != "__metadata__"]


def _check_pickled(path: Path) -> None:
    with open_file(path, source=str(path), error=ModelError) as stream:
        head = stream.read(64)
    _refuse_pointer(path, head)
    if not head.startswith(_PICKLES):
        raise _damaged(path, "torch.save() writes no such file")


def _refuse_pointer(path: Path, head: bytes) -> None:
    if head.startswith(_POINTER):
        raise ModelError(
            f"{path} is a pointer of Git LFS, not the weights themselves",
            hint="run `git lfs pull` in the clone, or download with `hf download`",
        )


def _damaged(path: Path, problem: str) -> ModelError:
    return ModelError(f"{path} is damaged: {problem}", hint=_AGAIN)


def _read_object(path: Path) -> dict[str, Any]:
    """A JSON object as libraries read it: some checkpoints hold Infinity, which is none."""
    text = read_text(path, error=ModelError)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is not JSON: {error}", hint=_AGAIN) from error
    if not isinstance(found, dict):
        raise ModelError(f"{path} holds {kind_of(found)}; an object was expected", hint=_AGAIN)
    return found
