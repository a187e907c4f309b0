"""What the command line shows of an error: one paragraph that a terminal can hold."""

from __future__ import annotations

import json
import pickle

import pytest

from rpx_core.cli.output import MAX_SHOWN, Told, print_error
from rpx_core.errors import ModelError, last_words


class _Own(ModelError):
    """As a plugin may have it: it cannot be made again from what it says."""

    def __init__(self) -> None:
        super().__init__("no lens", hint="clean it", details={"made": object()})


def test_the_last_words_of_a_process_are_of_a_class_that_every_process_has() -> None:
    words = pickle.loads(pickle.dumps(last_words(_Own(), "a worker")))
    assert (type(words), str(words), words.details) == (
        ModelError,
        "no lens\n  hint: clean it",
        {},
    )
    kept = last_words(ModelError("no lens", details={"names": ["a"]}), "a worker")
    assert kept.details == {"names": ["a"]}


def test_an_endless_message_keeps_its_start_and_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    told = Told("start " + "x" * 10**6 + " end", hint="first " + "y" * 10**6 + " last")
    print_error(told, as_json=False)
    shown = capsys.readouterr().err
    assert len(shown) < 2 * MAX_SHOWN + 200
    for part in ("start x", "x end", "first y", "y last", "(1000010 characters)"):
        assert part in shown


def test_an_endless_message_is_cut_in_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(Told("x" * 10**6), as_json=True)
    error = json.loads(capsys.readouterr().out)["error"]
    assert len(error["message"]) < MAX_SHOWN + 100
    assert error["hint"] is None


def test_a_message_that_can_be_read_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(Told("a" * MAX_SHOWN, hint="b"), as_json=False)
    shown = capsys.readouterr().err
    assert "a" * MAX_SHOWN in shown
    assert "hint: b" in shown
