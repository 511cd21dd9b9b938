"""Whether generated tokens are those that NumPy's attention chooses, and what explains others.

The reference takes the generated tokens one after another as its own, so that a token in question
says nothing about those after it. Where it would have chosen another, the cause may be that the
prompt's attention rounds queries and weights to f16. How far that moves the logits is found out by
a second reference that rounds so, too: a lead that is smaller than what two logits move is a near
tie, which any correct kernel may decide either way. A larger one is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .attention import Attention, NumpyAttention
from .model import Model


@dataclass(frozen=True)
class Difference:
    """A generated token that the reference would not have chosen.

    Parameters
    ----------
    index
        Of the token, from 0 on.
    token, expected
        What was generated, and what the reference chose after the same tokens.
    lead
        How far its logit is above that of `token`, in the reference.
    moved
        Most that the rounding of the prompt's attention moves any logit there; 0 without rounding.
    """

    index: int
    token: int
    expected: int
    lead: float
    moved: float

    @property
    def is_near_tie(self) -> bool:
        """Whether rounding explains it: both logits may move, towards each other."""
        return self.lead <= 2 * self.moved


@dataclass(frozen=True)
class Check:
    """What came of comparing `count` tokens; `describe` makes a sentence of a difference."""

    count: int
    differences: list[Difference]
    describe: Callable[[Difference], str]

    @property
    def faults(self) -> list[Difference]:
        """The differences that nothing explains."""
        return [difference for difference in self.differences if not difference.is_near_tie]

    @property
    def near_ties(self) -> list[Difference]:
        """The others."""
        return [difference for difference in self.differences if difference.is_near_tie]

    def lines(self) -> list[str]:
        """Return the check as lines for a person."""
        lines = [self.describe(fault) for fault in self.faults]
        lines += [f"Near tie, no fault: {self.describe(tie)}" for tie in self.near_ties]
        equal = self.count - len(self.differences)
        if equal == self.count:
            return [f"check: {equal} tokens equal those of NumPy attention"]
        verdict = "failed" if self.faults else "passed"
        return [*lines, f"check {verdict}: {equal} of {self.count} tokens equal NumPy attention's"]

    def as_json(self) -> dict[str, object]:
        """Return the check, ready for `json.dumps`."""
        faults, near_ties = (
            [self.describe(difference) for difference in differences]
            for differences in (self.faults, self.near_ties)
        )
        return {
            "check_passed": not faults,
            "first_difference": faults[0] if faults else None,
            "near_ties": near_ties,
        }


def find_differences(
    model: Model, prompt: Sequence[int], tokens: Sequence[int], rounds: bool
) -> list[Difference]:
    """Compare generated tokens with the choices of NumPy's attention.

    Parameters
    ----------
    model
        What computed.
    prompt, tokens
        What was given and what was generated, one token at least each.
    rounds
        Whether the attention that was used rounds queries and weights to f16 in the prompt.
    """
    exact = _replay(model, NumpyAttention(model.config, len(prompt) + len(tokens)), prompt, tokens)
    unlike = {
        index: logits
        for index, (token, logits) in enumerate(zip(tokens, exact, strict=True))
        if int(np.argmax(logits)) != token
    }
    moved = dict.fromkeys(unlike, 0.0)
    if unlike and rounds:
        # No further than there is something to explain.
        last = max(unlike) + 1
        rounding = NumpyAttention(model.config, len(prompt) + last, rounds=True)
        for index, logits in enumerate(_replay(model, rounding, prompt, tokens[:last])):
            if index in unlike:
                moved[index] = float(np.max(abs(logits - unlike[index])))
    return [
        _difference(index, tokens[index], logits, moved[index]) for index, logits in unlike.items()
    ]


def _difference(index: int, token: int, logits: np.ndarray, moved: float) -> Difference:
    expected = int(np.argmax(logits))
    return Difference(index, token, expected, float(logits[expected] - logits[token]), moved)


def _replay(
    model: Model, attention: Attention, prompt: Sequence[int], tokens: Sequence[int]
) -> Iterator[np.ndarray]:
    """Yield the logits before each of the tokens."""
    yield model.forward(prompt, 0, attention)
    for position, token in enumerate(tokens[:-1], len(prompt)):
        yield model.forward([token], position, attention)
