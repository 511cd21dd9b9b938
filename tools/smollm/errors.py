"""Errors whose text is one sentence for the person at the command line."""

from __future__ import annotations


class GenerateError(Exception):
    """Base of every error that the command line reports without a traceback."""


class MissingPackageError(GenerateError):
    """A Python package that the program needs is not installed."""

    def __init__(self, package: str) -> None:
        super().__init__(
            f"The Python package {package} is not installed here; "
            "`make demo` sets up everything that this program needs."
        )


class UnsupportedModelError(GenerateError):
    """The model file is not of the kind that this program runs."""


class PromptTooLongError(GenerateError):
    """Prompt and answer together do not fit the model's context."""


class InvalidTextError(GenerateError):
    """Text that has no UTF-8 form, such as stray bytes from the command line."""


class CacheOverflowError(GenerateError):
    """A key or value is too large for f16."""
