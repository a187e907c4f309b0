"""Prompts as one sentence, and the scores of its words as scores of prompts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.errors import ModelError
from rpx_detection.models.hf_options import HfDetectionOptions
from rpx_detection.models.phrase_tokens import join, score_phrases, split

STOP, START, END = 1, 100, 101


def tokenise(text: str) -> dict[str, list[int]]:
    """A word is its length plus one; a stop is a token of its own."""
    words = text.replace(".", " . ").split()
    return {"input_ids": [START, *(STOP if w == "." else len(w) + 1 for w in words), END]}


def score(prompts: Sequence[str], logits: list[float]) -> list[float]:
    tokens = tokenise(join(prompts))["input_ids"]
    padded = np.full((1, 1, 32), -np.inf)
    padded[0, 0, : len(logits)] = logits
    found: list[float] = score_phrases(padded, tokens, STOP, len(prompts))[0, 0].tolist()
    return found


def test_a_prompt_is_as_sure_as_the_surest_of_its_words() -> None:
    # start, red, mug, stop, box, stop, end
    logits = [9.0, -1.0, 2.0, 9.0, 0.0, 9.0, 9.0]
    assert score(["red mug", "Box"], logits) == pytest.approx([1 / (1 + math.exp(-2)), 0.5])


def test_a_stop_inside_a_prompt_does_not_end_it() -> None:
    assert join(["St. Bernard ", "Mug."]) == "st bernard. mug."
    assert len(score(["st. bernard", "mug"], [0.0] * 7)) == 2


def test_a_prompt_without_words_is_refused() -> None:
    with pytest.raises(ModelError, match=r"'\.\.\.' has no words"):
        join(["mug", "..."])


@given(st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=20))
def test_prompts_are_split_in_order_into_sentences_that_fit(prompts: list[str]) -> None:
    groups = split(prompts, tokenise, 8)
    assert [prompt for group in groups for prompt in group] == prompts
    assert all(len(tokenise(join(group))["input_ids"]) <= 8 for group in groups)
    # No sentence could take the first prompt of the next.
    for group, after in itertools.pairwise(groups):
        assert len(tokenise(join((*group, after[0])))["input_ids"]) > 8


def test_a_prompt_that_never_fits_is_refused() -> None:
    with pytest.raises(ModelError, match="is longer than 8 tokens"):
        split(["a b c d e f g"], tokenise, 8)


def test_a_text_that_was_cut_is_refused() -> None:
    tokens = tokenise("red mug. box")["input_ids"]
    with pytest.raises(ModelError, match="was read as 1 phrases; 2 were expected"):
        score_phrases(np.zeros((1, 1, 32)), tokens, STOP, 2)


@pytest.mark.parametrize("prompt", ["a photo", "{} and {}", "{name}"])
def test_a_template_has_one_place_for_the_class(prompt: str) -> None:
    with pytest.raises(ValueError, match=r"one \{\} stands for the class"):
        HfDetectionOptions(checkpoint="a/b", prompt=prompt)
