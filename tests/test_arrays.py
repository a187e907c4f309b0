"""Numpy files from anyone: plain numbers and text, or one error before memory is taken."""

from __future__ import annotations

import io
import pickle
import struct
import tracemalloc
import zipfile
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from rpx_core.arrays import encode_npy, encode_npz, is_array_file, load_array, load_arrays
from rpx_core.errors import ManifestError

numbers = (
    hnp.boolean_dtypes() | hnp.integer_dtypes(endianness="?") | hnp.floating_dtypes(endianness="?")
)


def npz(**arrays: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]  # numpy reads as bool
    return buffer.getvalue()


def npy_with_header(header: str, content: bytes = b"") -> bytes:
    encoded = header.encode("latin-1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(encoded)) + encoded + content


def refusal(data: bytes) -> str:
    with pytest.raises(ManifestError) as caught:
        load_array(data, name="a.npy")
    message = str(caught.value)
    assert message.startswith("a.npy")
    return message


@given(hnp.arrays(numbers, hnp.array_shapes(min_dims=0, min_side=0, max_dims=4)))
def test_numbers_survive_the_file(array: NDArray[Any]) -> None:
    loaded = load_array(encode_npy(array), name="a.npy")

    np.testing.assert_array_equal(loaded, array)
    assert loaded.dtype == array.dtype.newbyteorder("=")
    assert loaded.flags.writeable
    assert loaded.flags.c_contiguous


@given(hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=3)))
def test_column_order_is_undone(array: NDArray[np.float32]) -> None:
    data = encode_npy(np.asfortranarray(array))

    np.testing.assert_array_equal(load_array(data, name="a.npy"), array)


def test_headers_of_other_writers_are_read() -> None:
    content = np.arange(6, dtype="<f4").tobytes()
    for header in (
        "{'shape':(2,3),'fortran_order':False,'descr':'<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
        "{'descr': 'f4', 'fortran_order': False, 'shape': (2, 3,)}",
    ):
        loaded = load_array(npy_with_header(header, content), name="a.npy")
        np.testing.assert_array_equal(loaded, np.arange(6).reshape(2, 3))


def test_later_format_versions_are_read() -> None:
    array = np.arange(6, dtype=np.int16)
    for version in ((2, 0), (3, 0)):
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, array, version=version)
        np.testing.assert_array_equal(load_array(buffer.getvalue(), name="a.npy"), array)


class Bomb:
    """What a pickle may run when it is loaded."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("the pickle was loaded",))


def test_pickled_objects_are_refused_unloaded() -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)

    assert "only integers, floats and bools" in refusal(buffer.getvalue())
    assert "not a .npy or .npz" in refusal(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="Object arrays"):
        encode_npy(np.array([object()]))


@pytest.mark.parametrize("dtype", ["U5", "S5", "c16", "M8[s]", "V4", [("x", "f4"), ("y", "i4")]])
def test_types_other_than_plain_numbers_are_refused(dtype: Any) -> None:
    assert "only integers, floats and bools" in refusal(encode_npy(np.zeros(2, dtype=dtype)))


@pytest.mark.parametrize(
    "header",
    [
        "",
        "{}",
        "{" * 2000,
        "(" * 4000,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'descr': '<f4', 'descr': '<f4'}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1," * 100 + ")}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (0, " + "9" * 100 + ")}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': __import__('os')}",
        "{'descr': '\\d', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}" + " " * 5000,
    ],
)
def test_hostile_header_is_one_short_error(header: str) -> None:
    assert len(refusal(npy_with_header(header, bytes(4)))) < 1000


def test_declared_size_is_compared_before_memory_is_taken() -> None:
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000)}"
    tracemalloc.start()

    message = refusal(npy_with_header(header, bytes(16)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "80000000000 bytes, but holds 16" in message
    assert peak < 10**6


@pytest.mark.parametrize(("data", "what"), [(b"", "empty"), (b"\0" * 128, "damaged")])
def test_a_file_that_is_named_as_an_array_and_is_none_is_damaged(data: bytes, what: str) -> None:
    with pytest.raises(ManifestError, match=rf"a\.npy: is {what}: .* \.npy file"):
        is_array_file(data, name="a.npy")


def test_an_image_counts_by_its_content_whatever_it_is_named() -> None:
    assert not is_array_file(b"\x89PNG\r\n\x1a\n", name="a.npy")
    assert not is_array_file(b"1 0 0", name="pose.txt")


def test_truncated_and_padded_files_are_refused() -> None:
    whole = encode_npy(np.arange(100.0))

    for size in range(len(whole)):
        refusal(whole[:size])
    assert "but holds" in refusal(whole + b"\0")


def test_archive_gives_its_arrays_by_name() -> None:
    data = npz(position=np.zeros(3), orientation=np.ones(4))

    arrays = load_arrays(data, name="p.npz", require=("position", "orientation"))

    assert {key: value.shape for key, value in arrays.items()} == {
        "position": (3,),
        "orientation": (4,),
    }
    with pytest.raises(ManifestError, match=r"p\.npz: lacks 'pose'; it holds 'orientation', 'pos"):
        load_arrays(data, name="p.npz", require=("pose",))


def test_single_array_of_an_archive_needs_no_name() -> None:
    np.testing.assert_array_equal(load_array(npz(depth=np.eye(2)), name="d.npz"), np.eye(2))
    assert "exactly one was expected" in refusal(npz(a=np.eye(2), b=np.eye(2)))
    with pytest.raises(ManifestError, match=r"not a \.npy or \.npz"):
        load_arrays(encode_npy(np.eye(2)), name="d.npy")


@given(
    st.dictionaries(
        st.sampled_from(["mask", "file", "allow_pickle", "arr_0"]),
        hnp.arrays(numbers, hnp.array_shapes(min_dims=0, min_side=0, max_dims=3)),
        min_size=1,
    )
)
def test_arrays_survive_the_archive_and_equal_ones_give_equal_bytes(
    arrays: dict[str, NDArray[Any]],
) -> None:
    data = encode_npz(arrays)

    loaded = load_arrays(data, name="a.npz")
    assert list(loaded) == list(arrays)
    for key, array in arrays.items():
        np.testing.assert_array_equal(loaded[key], array)
    assert encode_npz({key: array.copy() for key, array in arrays.items()}) == data
    with np.load(io.BytesIO(data)) as theirs:
        assert set(theirs.files) == set(arrays)


def test_archives_are_compressed_and_never_hold_objects() -> None:
    assert len(encode_npz({"mask": np.zeros((480, 640), np.int32)})) < 10_000
    with pytest.raises(ValueError, match="Object arrays"):
        encode_npz({"a": np.array([object()])})


characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


@given(st.lists(st.text(characters, max_size=5), max_size=4), st.sampled_from("<>"))
def test_text_is_read_where_it_is_asked_for(names: list[str], order: str) -> None:
    table = np.array(names, np.str_)
    data = encode_npz({"names": table.astype(table.dtype.newbyteorder(order)), "ids": np.eye(2)})

    loaded = load_arrays(data, name="p.npz", text=("names",))["names"]

    assert loaded.tolist() == names
    assert loaded.flags.writeable
    for text in ((), ("ids",)):
        with pytest.raises(ManifestError, match=r"p\.npz, array 'names': holds .*only integers"):
            load_arrays(data, name="p.npz", text=text)


def test_text_of_any_number_of_axes_is_read() -> None:
    for shape in ((), (0,), (2, 0), (2, 2)):
        table = np.full(shape, "a€")
        loaded = load_arrays(encode_npz({"t": table}), name="t.npz", text=("t",))["t"]
        np.testing.assert_array_equal(loaded, table)


@pytest.mark.parametrize("code", [0x110000, 0xD800, 0xDFFF, 2**32 - 1])
@pytest.mark.parametrize("order", "<>")
def test_numbers_that_are_no_characters_are_refused(code: int, order: str) -> None:
    header = f"{{'descr': '{order}U2', 'fortran_order': False, 'shape': (1,)}}"
    content = np.array([97, code], f"{order}u4").tobytes()

    with pytest.raises(ManifestError, match="not Unicode"):
        load_arrays(archived(npy_with_header(header, content)), name="t.npz", text=("a",))


@pytest.mark.parametrize(
    ("descr", "shape"),
    [
        *((f"<U{size}", "(1,)") for size in (0, 999, 536870911, 999999999, 10**12)),
        *((descr, "(1,)") for descr in ("|S5", "|O", "U", "<U-1", "|U2", "<M8[s]")),
        ("<U2", "(" + "9" * 30 + ",)"),
        ("<U999999999", "(0,)"),
        ("<U0", "(0,)"),
    ],
)
def test_hostile_text_is_one_short_error_or_nothing(descr: str, shape: str) -> None:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}"
    content = b"" if shape == "(0,)" else bytes(8)
    data, size, message = archived(npy_with_header(header, content)), 0, ""
    tracemalloc.start()

    try:
        size = load_arrays(data, name="t.npz", text=("a",))["a"].size
    except ManifestError as error:
        message = str(error)
    assert size == 0
    assert len(message) < 1000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**6


def archived(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.npy", content)
    return buffer.getvalue()


def test_archive_bomb_is_refused_by_its_declared_size() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(10**6))
    data = bytearray(buffer.getvalue())
    central = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, central + 24, 2**31)

    assert f"declares {2**31} bytes" in refusal(bytes(data))


def test_archive_that_inflates_beyond_its_declared_size_stays_small() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(10**8))
    data = bytearray(buffer.getvalue())
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 24, 1000)
    tracemalloc.start()

    refusal(bytes(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 10**6


def test_archive_of_too_many_members_is_refused_before_they_are_listed() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for index in range(5000):
            archive.writestr(f"{index}.npy", b"")

    assert "more than 4096 arrays" in refusal(buffer.getvalue())


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_odd_archives_are_refused() -> None:
    array = encode_npy(np.eye(2))
    for names, method, reason in (
        (("a.npy", "a.npy"), zipfile.ZIP_STORED, "twice"),
        (("a.npy",), zipfile.ZIP_LZMA, "neither stored nor deflated"),
        (("a.npy",), zipfile.ZIP_BZIP2, "neither stored nor deflated"),
    ):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as archive:
            for name in names:
                archive.writestr(name, array)
        assert reason in refusal(buffer.getvalue())

    encrypted = bytearray(npz(a=np.eye(2)))
    for start, offset in (
        (encrypted.index(b"PK\x03\x04"), 6),
        (encrypted.rindex(b"PK\x01\x02"), 8),
    ):
        encrypted[start + offset] |= 1
    assert "damaged" in refusal(bytes(encrypted))


@given(st.data())
def test_damaged_files_are_an_array_or_one_error(data: st.DataObject) -> None:
    whole = bytearray(
        data.draw(
            st.sampled_from(
                [
                    encode_npy(np.arange(12.0).reshape(3, 4)),
                    npz(a=np.eye(3), b=np.arange(5)),
                    npz(a=np.array(["mug", "can"])),
                    archived(encode_npy(np.array(["mug", "can"]))),
                ]
            )
        )
    )
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(len(whole) // 2, len(whole)))

    for load in (load_array, load_arrays, partial(load_arrays, text=("a",))):
        with suppress(ManifestError):
            load(bytes(whole[:cut]), name="a")


def test_what_an_archive_calls_its_arrays_does_not_fill_the_message() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("\x1b[2J" + "a" * 60_000, b"x" * 100)
    broken = buffer.getvalue().replace(b"x" * 100, b"y" * 100)
    message = refusal(broken)
    assert "damaged" in message
    assert len(message) < 500
    assert "\x1b" not in message
