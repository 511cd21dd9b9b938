"""Ways to have no-op dispatches executed: ours, and a file for each other library's.

A file has `open_queue()`. It is imported when it is wanted, and fails to be where its library is
not installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

__all__ = ["PEERS", "Queue", "open_peers"]

# The last three need a Mac.
PEERS = ("pocl", "wgpu", "pyobjc", "mlx", "mtlpy")


class Queue(Protocol):
    """Takes command buffers of dispatches that do nothing.

    Attributes
    ----------
    name : str
        Of the library, and how it waits.
    """

    name: str

    def submit(self, dispatches: int) -> Any:
        """Encode a command buffer and hand it over; gives what `wait` takes."""

    def wait(self, submitted: Any) -> None:
        """Wait for the end of a command buffer."""


def open_peers(names: Sequence[str]) -> tuple[list[Queue], dict[str, str]]:
    """Open the queues of some peers.

    Parameters
    ----------
    names
        Some of `PEERS`.

    Returns
    -------
    tuple
        The queues, each of which has run a dispatch, and why others are left out, by name.
    """
    queues: list[Queue] = []
    left_out: dict[str, str] = {}
    for name in names:
        try:
            queue = importlib.import_module(f"{__name__}.{name}").open_queue()
            queue.wait(queue.submit(1))
            queues.append(queue)
        except ImportError as error:
            left_out[name] = f"not installed: {error.name or error}"
        except Exception as error:  # a library may fail in any way where it does not fit
            left_out[name] = f"{type(error).__name__}: {error}"
    return queues, left_out
