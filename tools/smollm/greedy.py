"""Greedy decoding: the likeliest token at every step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
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


@dataclass
class Transcript:
    """What one run generated, and how long it took."""

    tokens: list[int] = field(default_factory=list)
    leads: list[float] = field(default_factory=list)
    prompt_seconds: float = 0.0
    # The first token comes out of the prompt; each later one is a step of its own.
    step_seconds: float = 0.0

    @property
    def tokens_per_second(self) -> float:
        """Return the rate of the steps after the prompt, or 0 when there was none."""
        steps = len(self.tokens) - 1
        return steps / self.step_seconds if steps > 0 else 0.0


def generate(
    model: Model, attention: Attention, prompt: Sequence[int], row_by_row: bool = False
) -> Iterator[Choice]:
    """Yield the continuation of `prompt`, one `Choice` at a time, past any end-of-turn token.

    Nothing is computed before it is asked for: the first choice costs the prompt, each later
    one a single token. The caller stops before the cache of `attention` is full.

    Parameters
    ----------
    model, attention
        What computes.
    prompt
        Tokens, one at least.
    row_by_row
        Whether the prompt's tokens go through the model one at a time, as later ones do, instead
        of all at once.
    """
    if row_by_row:
        for position, token in enumerate(prompt):
            logits = model.forward([token], position, attention)
    else:
        logits = model.forward(prompt, 0, attention)
    position = len(prompt)
    while True:
        choice = Choice(int(np.argmax(logits)), logits)
        yield choice
        logits = model.forward([choice.token], position, attention)
        position += 1


def transcribe(
    choices: Iterator[Choice],
    count: int,
    stop: int | None = None,
    on_token: Callable[[int], None] | None = None,
) -> Transcript:
    """Take at most `count` choices, timing each, and hand every token on as it comes.

    Parameters
    ----------
    choices
        What `generate` yields.
    count
        At least 1.
    stop
        The token after which to end early; None goes on to `count`.
    on_token
        Called outside the timed part.
    """
    transcript = Transcript()
    while len(transcript.tokens) < count:
        began = time.perf_counter()
        choice = next(choices)
        seconds = time.perf_counter() - began
        if transcript.tokens:
            transcript.step_seconds += seconds
        else:
            transcript.prompt_seconds = seconds
        transcript.tokens.append(choice.token)
        transcript.leads.append(choice.lead())
        if on_token is not None:
            on_token(choice.token)
        if choice.token == stop:
            break
    return transcript
