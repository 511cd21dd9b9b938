"""Text: of messages, and arguments on their way to C, exact or refused."""

from __future__ import annotations

from .errors import InvalidArgument

__all__ = ["counted", "to_utf8"]


def counted(count: int, noun: str) -> str:
    """Return the count with its noun, in the plural unless it is one."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def to_utf8(text: str, what: str) -> bytes:
    """Return the text as UTF-8, which C takes up to the first NUL.

    Parameters
    ----------
    text
        The argument.
    what
        It is, for the error's text: e.g. "a label".

    Raises
    ------
    InvalidArgument
        When it has a NUL character, or one that is no Unicode.
    """
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise InvalidArgument(f"{what} must be Unicode without NUL characters, got {text!r}")
    return encoded
