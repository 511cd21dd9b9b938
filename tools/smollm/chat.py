"""The chat template: one system turn, one user turn, and the opening of the answer."""

from __future__ import annotations

import re

from .errors import UnsupportedModelError
from .tokenizer import Tokenizer

_TURN_START = "<|im_start|>"
_TURN_END = "<|im_end|>"

# The file's template is a Jinja program; the one literal system turn in it is the default.
_DEFAULT_SYSTEM = re.compile(
    re.escape(_TURN_START) + r"system(?:\n|\\n)(.*?)" + re.escape(_TURN_END), re.DOTALL
)


class ChatTemplate:
    """Renders a conversation in the ChatML form that the model was trained on.

    Parameters
    ----------
    source
        The template text of the model file, from which the default system prompt is taken.
    """

    def __init__(self, source: str) -> None:
        found = _DEFAULT_SYSTEM.search(source)
        if found is None:
            raise UnsupportedModelError(
                "The model's chat template is not ChatML with a default system prompt."
            )
        self.default_system = found.group(1)

    def encode(self, tokenizer: Tokenizer, prompt: str, system: str | None = None) -> list[int]:
        """Return the tokens of the conversation up to where the assistant's answer begins."""
        start = tokenizer.special(_TURN_START)
        end = tokenizer.special(_TURN_END)
        line_feed = tokenizer.encode("\n")
        tokens: list[int] = []
        instructions = self.default_system if system is None else system
        for role, content in (("system", instructions), ("user", prompt)):
            tokens += [start, *tokenizer.encode(f"{role}\n{content}"), end, *line_feed]
        return [*tokens, start, *tokenizer.encode("assistant\n")]
