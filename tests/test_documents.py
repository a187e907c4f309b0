"""JSON and TOML from anyone: a value, or one error that says where and why."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.documents import (
    MAX_DEPTH,
    read_json,
    read_json_lines,
    read_toml,
)
from rpx_core.errors import ConfigError, ManifestError

BOM = b"\xef\xbb\xbf"


def refusal(document: bytes) -> str:
    with pytest.raises(ManifestError) as caught:
        read_json(document, source="m.json")
    message = str(caught.value)
    assert message.startswith("m.json: ")
    return message


# RW-125: files saved on Windows.
def test_byte_order_mark_and_crlf_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(BOM + b'{"a":1,\r\n"b":2}\r\n')

    assert read_json(path) == {"a": 1, "b": 2}


def test_json_lines_accept_byte_order_mark_crlf_and_blank_lines() -> None:
    document = BOM + b'{"a":1}\r\n\r\n{"a":2}\r\n'

    assert list(read_json_lines(document, source="m.jsonl")) == [(0, {"a": 1}), (14, {"a": 2})]


def test_toml_accepts_byte_order_mark_and_crlf() -> None:
    assert read_toml(BOM + b'a = 1\r\nb = "x"\r\n') == {"a": 1, "b": "x"}


def test_other_encodings_are_refused_with_the_byte_offset(tmp_path: Path) -> None:
    path = tmp_path / "latin.json"
    path.write_bytes('{"a":"café"}'.encode("latin-1"))

    with pytest.raises(ManifestError, match=r"latin\.json: is not UTF-8: byte 0xe9 at offset 9"):
        read_json(path)
    assert "at offset 5" in refusal(BOM + b'{"\xff": 1}')
    message = refusal('{"a": 1}'.encode("utf-16"))
    assert "offset 0" in message
    assert "UTF-16" in message


def test_line_of_another_encoding_is_named() -> None:
    lines = read_json_lines(b'{"a": 1}\n{"\xe9": 2}\n', source="m.jsonl")

    assert next(lines) == (0, {"a": 1})
    with pytest.raises(ManifestError, match=r"m\.jsonl, line 2: is not UTF-8: byte 0xe9 at off"):
        next(lines)


@pytest.mark.parametrize("literal", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e400"])
def test_numbers_that_are_not_finite_are_refused(literal: bytes) -> None:
    message = refusal(b'{"a": [1, ' + literal + b"]}")

    assert f"holds {literal.decode()}" in message
    assert "finite" in message


@pytest.mark.parametrize("literal", [b"nan", b"inf", b"-inf", b"1e999"])
def test_toml_numbers_that_are_not_finite_are_refused(literal: bytes) -> None:
    with pytest.raises(ConfigError, match="finite"):
        read_toml(b"a = " + literal, source="run.toml")


def test_key_twice_in_one_object_is_refused_and_named() -> None:
    assert "'id' occurs twice" in refusal(b'[{"id": 1, "x": 2, "id": 1}]')
    assert read_json(b'[{"id": 1}, {"id": 1}]') == [{"id": 1}, {"id": 1}]


def test_deep_nesting_is_refused() -> None:
    for depth in (MAX_DEPTH + 1, 500, 10_000, 1_000_000):
        assert "nested too deeply" in refusal(b"[" * depth + b"]" * depth)
        assert "nested too deeply" in refusal(b'{"a":' * depth + b"1" + b"}" * depth)
    assert read_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) is not None


def test_deep_nesting_in_toml_is_refused() -> None:
    for depth in (MAX_DEPTH + 1, 10_000):
        with pytest.raises(ConfigError, match="nested too deeply"):
            read_toml(b"a = " + b"[" * depth + b"]" * depth, source="run.toml")


@pytest.mark.parametrize("part", ["a", '"a"', "'a'", '"\\""', "a "])
def test_endless_dotted_key_is_refused_before_it_eats_the_memory(part: str) -> None:
    key = ".".join([part] * 100_000)

    for document in (f"{key} = 1", f"[{key}]", f"x = {{ {key} = 1 }}"):
        with pytest.raises(ConfigError, match="dotted key of more than 40 parts"):
            read_toml(document.encode(), source="run.toml")
    assert read_toml(".".join(["a"] * 40).encode() + b" = 1")


@pytest.mark.parametrize("digits", [21, 400, 5_000, 100_000])
def test_huge_integers_are_refused_shortly(digits: int) -> None:
    message = refusal(b'{"a": ' + b"9" * digits + b"}")

    assert f"an integer of {digits} digits" in message
    assert len(message) < 200


def test_huge_integer_in_toml_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"run\.toml: "):
        read_toml(b"a = " + b"9" * 5_000, source="run.toml")


def test_unpaired_surrogate_is_refused() -> None:
    assert "unpaired surrogate" in refusal(b'{"name": "\\ud800"}')
    assert "unpaired surrogate" in refusal(b'{"\\uDC00": 1}')
    assert read_json(b'"\\ud83d\\ude00"') == "\N{GRINNING FACE}"


@pytest.mark.parametrize(
    "document", [b"", b" ", b"{", b'{"a" 1}', b"{} {}", b"[1,]", b"'a'", b"\0", b"nul", b"01"]
)
def test_text_that_is_not_json_is_located(document: bytes) -> None:
    assert "is not JSON" in refusal(document)
    assert "line 1, column" in refusal(document)


def test_text_that_is_not_toml_is_located() -> None:
    with pytest.raises(ConfigError, match=r"run\.toml: is not TOML: .*line 2"):
        read_toml(b"a = 1\nb = \n", source="run.toml")


def test_error_class_is_the_callers() -> None:
    with pytest.raises(ConfigError, match="gates"):
        read_json(b"{", source="gates", error=ConfigError)
    with pytest.raises(ManifestError, match="layout"):
        read_toml(b"=", source="layout", error=ManifestError)
    with pytest.raises(ConfigError, match="rows, line 1"):
        list(read_json_lines(b"{", source="rows", error=ConfigError))


def test_large_toml_is_refused_by_its_size_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    with open(path, "wb") as sparse:
        sparse.truncate(100 * 10**6)
    tracemalloc.start()

    with pytest.raises(ConfigError, match=r"run\.toml has 95\.4 MiB; at most 1\.0 MiB"):
        read_toml(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_large_json_is_refused_by_its_size_alone(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    with open(path, "wb") as sparse:
        sparse.truncate(300 * 2**20)

    with pytest.raises(ManifestError, match="300"):
        read_json(path)
    with pytest.raises(ManifestError, match="at most"):
        read_json(b"[1, 2, 3]", limit=8)


def test_endless_line_is_refused_without_reading_it_all(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with open(path, "wb") as sparse:
        sparse.write(b"{}\n")
        sparse.truncate(2**40)
    lines = read_json_lines(path)

    assert next(lines) == (0, {})
    with pytest.raises(ManifestError, match="line 2: has more than 16 MiB"):
        next(lines)


def test_missing_folder_and_pipe_are_errors(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ManifestError, match=r"none\.json is missing"):
        read_json(tmp_path / "none.json")
    with pytest.raises(ConfigError, match="a folder"):
        read_toml(tmp_path)
    with pytest.raises(ManifestError, match="pipe"):
        list(read_json_lines(tmp_path / "pipe"))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_toml(Path("a\0b"), source="run.toml")


def test_linked_configuration_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text("a = 1\n")
    (tmp_path / "link.toml").symlink_to("real.toml")

    assert read_toml(tmp_path / "link.toml") == {"a": 1}


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_one_error(document: bytes) -> None:
    for read in (read_json, lambda d: list(read_json_lines(d)), read_toml):
        try:
            read(document)
        except (ManifestError, ConfigError) as problem:
            str(problem).encode()


@given(st.text(alphabet="[]{}\"\\:,.=-+eEuDd0123456789 \nNaInftrue#_'", max_size=40))
def test_any_text_like_json_or_toml_is_a_value_or_one_error(text: str) -> None:
    for read in (read_json, lambda d: list(read_json_lines(d)), read_toml):
        try:
            read(text.encode())
        except (ManifestError, ConfigError) as problem:
            str(problem).encode()
