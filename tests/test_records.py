"""Records: natural order, defaults, and what of a record is checked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.errors import ManifestError
from rpx_core.records import WELL_KNOWN_ASSETS, Record, natural_key, parse_record

names = st.text(st.sampled_from("a0129_-. é٣"), max_size=12)


def parsed(raw: Any, **defaults: Any) -> Record:
    return parse_record(raw, where="here", defaults=defaults, known=WELL_KNOWN_ASSETS)


@pytest.mark.parametrize(
    "ordered",
    [
        ["1.png", "2.png", "10.png"],
        ["frame_9999.png", "frame_10000.png"],
        ["a1b2", "a1b10", "a2b1"],
        ["1a", "a", "a1"],
        ["", "0", "00", "1"],
        ["v1.2", "v1.10", "v1.10.1"],
    ],
)
def test_numbers_in_names_sort_by_value(ordered: list[str]) -> None:
    # RW-122
    assert sorted(ordered[::-1], key=natural_key) == sorted(ordered, key=natural_key)
    numeric = [name for name in ordered if name not in {"", "0", "00", "1a"}]
    assert sorted(numeric[::-1], key=natural_key) == numeric


@given(st.lists(names, unique=True), st.randoms())
def test_the_order_of_names_does_not_depend_on_where_sorting_began(
    some: list[str], random: Any
) -> None:
    shuffled = list(some)
    random.shuffle(shuffled)
    assert sorted(shuffled, key=natural_key) == sorted(some, key=natural_key)


@given(names, names)
def test_only_equal_names_have_equal_keys(one: str, other: str) -> None:
    assert (natural_key(one) == natural_key(other)) == (one == other)


def test_endless_digits_sort_without_being_parsed() -> None:
    assert sorted(["9" * 10_000, "8" * 10_000], key=natural_key)[0].startswith("8")


@pytest.mark.parametrize(
    ("identifier", "frame"),
    [
        ("scene_clean_0042", 42),
        ("a7b", 7),
        ("none", 0),
        ("1_2_3", 3),
        ("9" * 30, 999999999999999999),
    ],
)
def test_the_frame_is_the_last_integer_of_the_id(identifier: str, frame: int) -> None:
    assert parsed({"id": identifier}).frame == frame


@pytest.mark.parametrize(
    ("raw", "sequence"),
    [
        ({"id": "x", "scene": "s", "phase": "clean"}, "s_clean"),
        ({"id": "x", "scene": "s", "phase": 1}, "s_interaction"),
        ({"id": "x", "scene": "s"}, "x"),
        ({"id": "x", "phase": "clean"}, "x"),
        ({"id": "x", "scene": "s", "phase": 1, "sequence": "own"}, "own"),
    ],
)
def test_a_sequence_is_a_scene_in_a_phase(raw: dict[str, Any], sequence: str) -> None:
    assert parsed(raw).sequence == sequence


def test_keys_beside_the_core_ones_are_assets() -> None:
    record = parsed({"id": "x", "rgb": "x.png", "depth": "x.npy", "mask": None})
    assert record.assets == {"depth": "x.npy", "mask": None}
    assert [record.has(key) for key in ("rgb", "depth", "mask", "pose", "boxes")] == [
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("dpeth", "did you mean depth"),
        ("difficulti", "did you mean difficulty"),
        ("zzz", "free-form values belong in `metadata`"),
        ("assets", "belong in `metadata`"),
    ],
)
def test_unknown_keys_say_what_to_do(key: str, hint: str) -> None:
    with pytest.raises(ManifestError, match=f"here .id 'x'.: unknown key '{key}'") as caught:
        parsed({"id": "x", key: 1})
    assert caught.value.hint is not None
    assert hint in caught.value.hint


def test_defaults_give_way_to_what_the_record_says() -> None:
    record = parsed({"id": "x", "pose_convention": "opencv"}, pose_convention="t265", scene="d")
    assert (record.pose_convention, record.scene) == ("opencv", "d")


@pytest.mark.parametrize(
    ("phase", "ending"),
    [("cluter", "did you mean clutter?"), (3, ""), (True, ""), (1.0, ""), ([1], "")],
)
def test_a_phase_that_is_none_is_told_all_that_are(phase: Any, ending: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parsed({"id": "x", "phase": phase})
    expected = "'clutter' (or 0), 'interaction' (or 1), 'clean' (or 2) was expected"
    assert f"phase: {phase!r} is no phase: {expected}" in caught.value.message
    assert caught.value.message.endswith(ending)


def test_a_record_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        parsed({"id": "x"}).id = "y"  # type: ignore[misc]  # this is what must fail


@pytest.mark.parametrize(
    "steering", ["\x1b", "\x9b", "\x85", "\u202e", "\u2066", "\u200f", "\u2028"]
)
@pytest.mark.parametrize("field", ["id", "scene", "sequence"])
def test_names_that_steer_a_terminal_or_reorder_text_are_refused(field: str, steering: str) -> None:
    with pytest.raises(ManifestError, match=f"{field}: .*control characters") as caught:
        parsed({"id": "x", field: f"a{steering}b"})
    assert steering not in str(caught.value)


def test_names_in_any_script_are_accepted() -> None:
    for name in ("シーン_1", "\u0645\u06cc\u200c\u062e\u0648\u0627", "nai\u0308ve", "👩\u200d🔬"):
        assert parsed({"id": name}).id == name


@pytest.mark.parametrize("identifier", ["1" * 30_000 + "a1" + "b" * 100_000, "1a" * 100_000])
def test_an_endless_id_is_refused_by_its_length_before_it_is_taken_apart(identifier: str) -> None:
    # The search for its last integer took time quadratic in the length.
    with pytest.raises(ManifestError, match="at most 200 characters") as caught:
        parsed({"id": identifier})
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("identifier", [7, ["1" * 10_000], {"a": 1}, None, True])
def test_an_id_that_is_no_text_is_refused(identifier: Any) -> None:
    with pytest.raises(ManifestError, match="id: Input should be a valid string"):
        parsed({"id": identifier})


@pytest.mark.parametrize("raw", [{}, {"depth": [1.0]}, {"depth": 7}, {"depth": None}])
def test_an_asset_that_is_no_path_is_named_with_its_sample(raw: dict[str, Any]) -> None:
    record = parsed({"id": "a", **raw})
    with pytest.raises(ManifestError, match="sample a: `depth` must be the path of a file"):
        record.path_of("depth")
    assert parsed({"id": "a", "depth": "a.png"}).path_of("depth") == "a.png"
