"""KernelArgument: what a kernel takes at one index."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KernelArgument"]


@dataclass(frozen=True)
class KernelArgument:
    """An argument of a kernel.

    Parameters
    ----------
    kind
        "buffer" or "threadgroup", whose memory the kernel reads and writes.
    index
        Among those of its kind.
    name
        In the kernel's text; None where Metal tells none.
    access
        "writes", and perhaps reads; "reads", or "unused".
    size
        Bytes of the type, a pointer's of one element; 0 where Metal tells none.
    """

    kind: str
    index: int
    name: str | None
    access: str
    size: int
