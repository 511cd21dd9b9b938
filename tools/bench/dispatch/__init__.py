"""What recording and packing cost in Python, beside floors and peers, and the goals for them."""

from __future__ import annotations

import argparse
from typing import TextIO

from flashmetal.bench.dispatch import hot_path
from flashmetal.bench.options import positive
from flashmetal.bench.result import Result

__all__ = ["HELP", "NAME", "add_arguments", "run"]

NAME = "dispatch"
HELP = "what a call costs on the way to the device"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument(
        "--rounds", type=positive, default=100, help="how often each case has its turn"
    )


def run(options: argparse.Namespace, progress: TextIO) -> Result:
    """Measure; `progress` takes a bar when it is a terminal."""
    return hot_path.run(options.rounds, progress)
