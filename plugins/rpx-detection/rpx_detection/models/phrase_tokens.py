"""Prompts as one sentence, "red mug. box.", and the scores of its words as scores of prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import ModelError

Scores = NDArray[np.float64]


def join(prompts: Sequence[str]) -> str:
    """The sentence: each prompt in lower case, closed by a stop, so that stops inside are left out.

    The networks were trained on lower case with a stop behind every phrase.
    """
    return " ".join(f"{_clean(prompt)}." for prompt in prompts)


def split(
    prompts: Sequence[str], tokenizer: Callable[..., Any], limit: int
) -> list[tuple[str, ...]]:
    """The prompts in groups whose sentences have at most `limit` tokens; order is kept.

    Raises ModelError for a prompt that is too long by itself.
    """
    groups: list[tuple[str, ...]] = [()]
    for prompt in prompts:
        longer = (*groups[-1], prompt)
        if len(tokenizer(join(longer))["input_ids"]) <= limit:
            groups[-1] = longer
            continue
        if len(tokenizer(join((prompt,)))["input_ids"]) > limit:
            raise ModelError(
                f"the text {prompt[:60]!r} is longer than {limit} tokens",
                hint="shorten the name of the class or the expression",
            )
        groups.append((prompt,))
    return [group for group in groups if group]


def score_phrases(logits: Scores, tokens: Sequence[int], stop: int, count: int) -> Scores:
    """Scores (images, boxes, count) of prompts from logits (images, boxes, tokens).

    A prompt is as sure as the surest of its words. Each prompt's words are those before its stop;
    the first token opens the sentence and belongs to none.
    """
    spans: list[list[int]] = [[]]
    for position, token in enumerate(tokens[1:], start=1):
        if token != stop:
            spans[-1].append(position)
        elif len(spans) <= count:
            spans.append([])
    spans = spans[:-1]
    if len(spans) != count or not all(spans):
        raise ModelError(f"the text was read as {len(spans)} phrases; {count} were expected")
    with np.errstate(over="ignore"):
        probabilities = 1 / (1 + np.exp(-logits))
    return np.stack([probabilities[..., span].max(axis=-1) for span in spans], axis=-1)


def _clean(prompt: str) -> str:
    text = " ".join(prompt.lower().replace(".", " ").split())
    if not text:
        raise ModelError(
            f"the text {prompt!r} has no words to look for",
            hint="name classes, and write expressions, in letters",
        )
    return text
