"""Numpy files from untrusted bytes: `.npy` and `.npz` of plain data, nothing executable."""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import ManifestError
from rpx_core.files import quote
from rpx_core.image_formats import is_image

ARRAY_LIMIT = 512 * 2**20
"""Bytes that the arrays of one file may take in memory."""

NPY_MAGIC = b"\x93NUMPY"
NPZ_MAGIC = b"PK\x03\x04"
_MAX_HEADER = 4096
_MAX_MEMBERS = 4096

# Not `ast.literal_eval`, which nesting exhausts and which warns: every plain header has this form.
_HEADER = re.compile(r"\{(?:'\w+':(?:'[^']*'|True|False|\([\d,]*\)),?){3}\}")
_HEADER_ENTRY = re.compile(r"'(\w+)':('[^']*'|True|False|\([\d,]*\))")
_NUMBERS = re.compile(r"'[<>=|]?(?:b1|[iuf]\d{1,2})'")
_TEXT = re.compile(r"'[<>=]?U[1-9]\d{0,8}'")
_LAST_CHARACTER = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)

# What zipfile raises on damaged, encrypted or exotic archives.
_ARCHIVE_FAILURES = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    ValueError,
    LookupError,
    OverflowError,
    RuntimeError,  # NotImplementedError is one
)


def is_array_file(data: bytes, *, name: str) -> bool:
    """Whether the content is that of a `.npy` or `.npz`, and not of an image or text.

    Raises ManifestError for a file that is named so and does not start so: it is damaged, and
    whatever else it passes for, the error would speak of that.
    """
    if data.startswith((NPY_MAGIC, NPZ_MAGIC)):
        return True
    ending = next((one for one in (".npy", ".npz") if name.lower().endswith(one)), None)
    if ending is None or is_image(data):
        return False
    raise ManifestError(
        f"{name}: is {'empty' if not data else 'damaged'}: it does not start as a {ending} file",
        hint="write it again with numpy.save, or copy it again",
    )


def load_array(data: bytes, *, name: str) -> NDArray[Any]:
    """The array of a `.npy`, or the only one of a `.npz`: numbers or bools, writable, native order.

    Raises `ManifestError` naming `name` for anything else, before memory is taken for it.
    """
    if data.startswith(NPY_MAGIC):
        return _parse_npy(data, name)
    arrays = load_arrays(data, name=name)
    if len(arrays) != 1:
        raise ManifestError(f"{name}: holds the arrays {_list(arrays)}; exactly one was expected")
    return next(iter(arrays.values()))


def load_arrays(
    data: bytes, *, name: str, require: tuple[str, ...] = (), text: Collection[str] = ()
) -> dict[str, NDArray[Any]]:
    """The arrays of a `.npz` by name, which must include those in `require`.

    Those named in `text` may hold text of a fixed width; all others are numbers or bools.
    """
    if not data.startswith(NPZ_MAGIC):
        raise ManifestError(f"{name}: is not a .npy or .npz file; was it saved by numpy?")
    # Counted before zipfile makes an object of each.
    if data.count(b"PK\x01\x02") > _MAX_MEMBERS:
        raise ManifestError(f"{name}: lists more than {_MAX_MEMBERS} arrays")
    try:
        members = _read_members(data, name)
    except _ARCHIVE_FAILURES as problem:
        raise ManifestError(
            # What zipfile says may quote names out of the archive, of any length.
            f"{name}: the .npz archive is damaged: {quote(str(problem))}",
            hint="fetch the file again",
        ) from problem
    missing = [key for key in require if key not in members]
    if missing:
        raise ManifestError(f"{name}: lacks {_list(missing)}; it holds {_list(members)}")
    return {
        key: _parse_npy(content, f"{name}, array {quote(key)}", text=key in text)
        for key, content in members.items()
    }


def encode_npy(array: NDArray[Any]) -> bytes:
    """The `.npy` file of an array; raises `ValueError` for objects."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def encode_npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The compressed `.npz` file of arrays; equal arrays give equal bytes.

    Raises `ValueError` for objects, which numpy's own writers would pickle.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            # An entry made here bears no time of day.
            entry = zipfile.ZipInfo(f"{name}.npy")
            archive.writestr(entry, encode_npy(array), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _read_members(data: bytes, name: str) -> dict[str, bytes]:
    members: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        declared = sum(entry.file_size for entry in entries)
        if declared > ARRAY_LIMIT:
            raise ManifestError(
                f"{name}: declares {declared} bytes of arrays; at most {ARRAY_LIMIT} are read"
            )
        for entry in entries:
            key = entry.filename.removesuffix(".npy")
            if key in members:
                raise ManifestError(f"{name}: holds the array {quote(key)} twice")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ManifestError(
                    f"{name}: the array {quote(key)} is neither stored nor deflated"
                )
            with archive.open(entry) as member:
                # Sized: an unsized read would inflate more than was declared.
                members[key] = member.read(entry.file_size)
    return members


def _parse_npy(data: bytes, name: str, *, text: bool = False) -> NDArray[Any]:
    header, start = _read_npy_header(data, name)
    descr = header.get("descr", "")
    is_text = text and _TEXT.fullmatch(descr) is not None
    if not (is_text or _NUMBERS.fullmatch(descr)) or "shape" not in header:
        raise ManifestError(
            f"{name}: holds {header.get('descr', 'no plain data')}; "
            "only integers, floats and bools are read",
            hint="save numbers with numpy.save, never Python objects",
        )
    shape = tuple(int(size) for size in header["shape"].strip("()").split(",") if size)
    try:
        dtype = np.dtype(header["descr"].strip("'"))
    except TypeError as problem:
        raise ManifestError(f"{name}: has the unknown type {header['descr']}") from problem
    expected, found = math.prod(shape) * dtype.itemsize, len(data) - start
    if expected != found:
        raise ManifestError(
            f"{name}: declares shape {shape} of {dtype}, {expected} bytes, but holds {found}",
            hint="fetch the file again",
        )
    flat: NDArray[Any] = np.frombuffer(data, dtype=dtype, offset=start)
    try:
        if header.get("fortran_order") == "True":
            array = flat.reshape(shape[::-1]).T
        else:
            array = flat.reshape(shape)
    except (ValueError, OverflowError) as problem:
        raise ManifestError(f"{name}: declares an impossible shape: {problem}") from problem
    own = array.astype(dtype.newbyteorder("="), order="C")
    if is_text:
        _check_text(own, name)
    return own


def _check_text(array: NDArray[np.str_], name: str) -> None:
    """Raise ManifestError for numbers that are no characters: Python cannot show those."""
    codes = array.reshape(-1).view(np.uint32)
    first, last = _SURROGATES
    if (codes > _LAST_CHARACTER).any() or ((first <= codes) & (codes <= last)).any():
        raise ManifestError(f"{name}: holds text that is not Unicode")


def _list(keys: Iterable[str]) -> str:
    return ", ".join(map(quote, sorted(keys)[:20])) or "nothing"


def _read_npy_header(data: bytes, name: str) -> tuple[dict[str, str], int]:
    if not data.startswith(NPY_MAGIC) or len(data) < 12:
        raise ManifestError(f"{name}: is not a complete .npy array")
    width = 2 if data[6] == 1 else 4
    length = int.from_bytes(data[8 : 8 + width], "little")
    start = 8 + width + length
    if data[6] not in (1, 2, 3) or length > _MAX_HEADER or start > len(data):
        raise ManifestError(f"{name}: its .npy header is damaged or truncated")
    text = "".join(data[8 + width : start].decode("latin-1").split())
    if not _HEADER.fullmatch(text):
        return {}, start
    return dict(_HEADER_ENTRY.findall(text)), start
