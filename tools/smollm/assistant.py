"""The loaded model with its tokenizer and chat template."""

from __future__ import annotations

from pathlib import Path

from .attention import NumpyAttention
from .chat import ChatTemplate
from .errors import PromptTooLongError
from .gguf_file import GGUFFile, find_model_file
from .greedy import Transcript, generate, transcribe
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

    def reference(self, prompt: list[int], count: int) -> Transcript:
        """Return `count` tokens after `prompt` as NumPy's attention has them."""
        attention = NumpyAttention(self.model.config, len(prompt) + count)
        return transcribe(generate(self.model, attention, prompt), count)

    def first_difference(self, ours: Transcript, reference: Transcript) -> str | None:
        """Return one sentence on the first token that differs, or None when all are equal."""
        for index, (token, expected) in enumerate(zip(ours.tokens, reference.tokens, strict=True)):
            if token != expected:
                text, expected_text = (
                    self.tokenizer.decode([number]) for number in (token, expected)
                )
                return (
                    f"Token {index + 1} is {token} {text!r}, ahead by {ours.leads[index]:.2g}; "
                    f"NumPy attention chose {expected} {expected_text!r}, "
                    f"ahead by {reference.leads[index]:.2g}."
                )
        return None
