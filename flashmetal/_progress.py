"""Progress on a terminal, for commands that take a while."""

from __future__ import annotations

import shutil
from typing import TextIO

__all__ = ["ProgressBar"]


class ProgressBar:
    """A bar on a terminal; nothing elsewhere.

    Parameters
    ----------
    stream
        Where to draw it; None: nowhere.
    steps
        How many there will be.
    """

    WIDTH = 40

    def __init__(self, stream: TextIO | None, steps: int) -> None:
        self.stream = stream if stream is not None and stream.isatty() else None
        self.steps = steps
        self.done = 0

    def step(self, label: str) -> None:
        """Count one more step; the label stands in front of the bar."""
        self.done += 1
        if self.stream is not None:
            count = f"{self.done}/{self.steps}"
            # A line that wraps could not be drawn over; the last column stays free for the cursor.
            room = shutil.get_terminal_size().columns - len(f"{label}  {count}") - 1
            width = max(0, min(self.WIDTH, room))
            full = width * self.done // self.steps
            bar = "█" * full + "·" * (width - full)
            self.stream.write(f"\r{label} {bar} {count}")
            self.stream.flush()

    def clear(self) -> None:
        """Take the bar away."""
        if self.stream is not None:
            self.stream.write("\r\033[K")
            self.stream.flush()
