"""Greedy decoding: the likeliest token at every step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .attention import Attention
from .model import Model


class Choice(NamedTuple):
    """One generated token and the logits it was chosen from."""

    token: int
    logits: np.ndarray

    def lead(self) -> float:
        """Return how far the chosen logit is above the second largest."""
        second, first = np.partition(self.logits, -2)[-2:]
        return float(first - second)


def generate(model: Model, attention: Attention, prompt: Sequence[int]) -> Iterator[Choice]:
    """Yield the continuation of `prompt`, one `Choice` at a time, past any end-of-turn token.

    Nothing is computed before it is asked for: the first choice costs the prompt, each later
    one a single token. The caller stops before the cache of `attention` is full.
    """
    logits = model.forward(prompt, 0, attention)
    position = len(prompt)
    while True:
        choice = Choice(int(np.argmax(logits)), logits)
        yield choice
        logits = model.forward([choice.token], position, attention)
        position += 1
