"""The answer's text, shown as its tokens come."""

from __future__ import annotations

from collections.abc import Callable

from .tokenizer import TextStream, Tokenizer


class Answer:
    """Collects text up to the end of the assistant's turn; tokens beyond it are not shown.

    Parameters
    ----------
    tokenizer
        Gives the tokens their text.
    write
        Receives every piece of text as soon as its characters are whole.
    """

    def __init__(self, tokenizer: Tokenizer, write: Callable[[str], object]) -> None:
        self._stream = TextStream(tokenizer)
        self._end_of_turn = tokenizer.end_of_turn
        self._write = write
        self._ended = False
        self.text = ""

    def push(self, token: int) -> None:
        """Take the next token."""
        if self._ended:
            return
        if token == self._end_of_turn:
            self.finish()
        else:
            self._emit(self._stream.push(token))

    def finish(self) -> None:
        """Show what an unfinished last character leaves; the text ends here."""
        if not self._ended:
            self._ended = True
            self._emit(self._stream.finish())

    def _emit(self, piece: str) -> None:
        if piece:
            self.text += piece
            self._write(piece)
