"""A decode loop in C on top of flashmetal."""

from .loop import decode

__all__ = ["decode"]
