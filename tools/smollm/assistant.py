"""The loaded model with its tokenizer and chat template."""

from __future__ import annotations

from pathlib import Path

from .chat import ChatTemplate
from .check import Difference
from .errors import PromptTooLongError
from .gguf_file import GGUFFile, find_model_file
from .model import Model
from .tokenizer import Tokenizer


class Assistant:
    """Everything that a conversation needs and that stays the same between conversations.

    Parameters
    ----------
    path
        The GGUF file; by default the one of the installed model package.
    """

    def __init__(self, path: Path | None = None) -> None:
        file = GGUFFile(path or find_model_file())
        self.tokenizer = Tokenizer(file)
        self.template = ChatTemplate(file.value("tokenizer.chat_template"))
        self.model = Model(file)

    def encode(self, prompt: str, answer_tokens: int, system: str | None = None) -> list[int]:
        """Return the tokens of a conversation that leaves room for `answer_tokens`.

        Raises
        ------
        PromptTooLongError
            There is no such room in the model's context.
        """
        tokens = self.template.encode(self.tokenizer, prompt, system)
        context = self.model.config.context_length
        if len(tokens) + answer_tokens > context:
            raise PromptTooLongError(
                f"The prompt is {len(tokens)} tokens and the answer up to {answer_tokens}, more "
                f"than the model's context of {context}; shorten one of them."
            )
        return tokens

    def describe(self, difference: Difference) -> str:
        """Return one sentence on a token that NumPy's attention would not have chosen."""
        token, expected = (
            f"{number} {self.tokenizer.decode([number])!r}"
            for number in (difference.token, difference.expected)
        )
        sentence = (
            f"Token {difference.index + 1} is {token}; NumPy attention chooses {expected}, ahead "
            f"by {difference.lead:.2g}"
        )
        if not difference.moved:
            return f"{sentence}."
        return (
            f"{sentence}, where rounding to f16 in the prompt moves logits by up to "
            f"{difference.moved:.2g}."
        )
