"""Byte-level BPE from the vocabulary and merges of a GGUF file, and streaming text from tokens."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

from gguf import TokenType
from tokenizers import Tokenizer as BPETokenizer
from tokenizers import models, pre_tokenizers

from .errors import InvalidTextError, UnsupportedModelError
from .gguf_file import GGUFFile


def _gpt2_words() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def _smollm_words() -> pre_tokenizers.PreTokenizer:
    digits = pre_tokenizers.Digits(individual_digits=True)
    return pre_tokenizers.Sequence([digits, _gpt2_words()])


# Keyed by the file's tokenizer.ggml.pre.
_WORD_SPLITTERS = {"gpt-2": _gpt2_words, "smollm": _smollm_words}


class Tokenizer:
    """Text to tokens and back.

    Special tokens never come out of `encode`: what looks like one in a user's text stays text.
    They are reached by name, with `special`.
    """

    def __init__(self, file: GGUFFile) -> None:
        self._tokens: list[str] = file.value("tokenizer.ggml.tokens")
        self._special = {
            token: number
            for number, (token, kind) in enumerate(
                zip(self._tokens, file.value("tokenizer.ggml.token_type"), strict=True)
            )
            if kind == TokenType.CONTROL
        }
        self._special_numbers = frozenset(self._special.values())
        self._bpe = _build_bpe(file, self._tokens)
        self._byte_of = {character: byte for byte, character in byte_characters().items()}
        self.end_of_turn: int = file.value("tokenizer.ggml.eos_token_id")

    def __len__(self) -> int:
        return len(self._tokens)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of `text`; raise `InvalidTextError` when it has no UTF-8 form."""
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidTextError("The text holds a stray byte that is not UTF-8.") from None
        return self._bpe.encode(text).ids

    def special(self, name: str) -> int:
        """Return the number of a special token, such as ``<|im_start|>``."""
        try:
            return self._special[name]
        except KeyError:
            raise UnsupportedModelError(f"The vocabulary has no special token {name}.") from None

    def token_bytes(self, token: int) -> bytes:
        """Return the UTF-8 bytes that a token stands for; special tokens stand for none."""
        if token in self._special_numbers:
            return b""
        return bytes(self._byte_of[character] for character in self._tokens[token])

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of `tokens`; bytes that are no UTF-8 become U+FFFD."""
        return b"".join(map(self.token_bytes, tokens)).decode(errors="replace")


class TextStream:
    """Turns tokens into text as they come, holding back the bytes of an unfinished character."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, token: int) -> str:
        """Return the text that `token` completes, which may be empty."""
        return self._decoder.decode(self._tokenizer.token_bytes(token))

    def finish(self) -> str:
        """Return U+FFFD when the last character was never finished, or an empty string."""
        return self._decoder.decode(b"", final=True)


def byte_characters() -> dict[int, str]:
    """Return the printable character that byte-level vocabularies write for each byte.

    Bytes that print as themselves in Latin-1 keep their character; the others, in order, take
    the characters from U+0100 on.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    characters = {byte: chr(byte) for byte in printable}
    characters.update((byte, chr(0x100 + index)) for index, byte in enumerate(others))
    return characters


def _build_bpe(file: GGUFFile, tokens: list[str]) -> BPETokenizer:
    kind = file.value("tokenizer.ggml.model")
    words = file.value("tokenizer.ggml.pre")
    if kind != "gpt2" or words not in _WORD_SPLITTERS:
        raise UnsupportedModelError(
            f"The model's tokenizer is {kind} with {words} words; "
            f"this program knows gpt2 with {' or '.join(_WORD_SPLITTERS)}."
        )
    vocabulary = {token: number for number, token in enumerate(tokens)}
    merges = [tuple(merge.split(" ")) for merge in file.value("tokenizer.ggml.merges")]
    bpe = BPETokenizer(models.BPE(vocab=vocabulary, merges=merges))
    bpe.pre_tokenizer = _WORD_SPLITTERS[words]()
    return bpe
