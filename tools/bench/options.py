"""Types of the benchmarks' arguments on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from flashmetal.bench.peers import PEERS

__all__ = ["add_comparison", "add_peers", "names_of", "positive", "positives"]


def positive(text: str) -> int:
    """Read a whole number above 0."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def positives(text: str) -> tuple[int, ...]:
    """Read whole numbers above 0 with commas between, e.g. 1024,4096."""
    return tuple(map(positive, text.split(",")))


def names_of(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """Make the type of some of the known names with commas between."""

    def names(text: str) -> tuple[str, ...]:
        wanted = tuple(text.split(","))
        for name in wanted:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return wanted

    return names


def add_comparison(parser: argparse.ArgumentParser, rounds: int) -> None:
    """Add what every comparison of attention takes; `rounds` is the default."""
    parser.add_argument("--threads", type=positive, default=1, help="of every library (1)")
    add_peers(parser, PEERS, rounds)


def add_peers(parser: argparse.ArgumentParser, known: Sequence[str], rounds: int) -> None:
    """Add whom to measure and how often; all that are known and `rounds` are the defaults."""
    parser.add_argument(
        "--peers",
        type=names_of(known),
        default=known,
        help=f"with commas between; all that are installed: {', '.join(known)}",
    )
    parser.add_argument(
        "--rounds",
        type=positive,
        default=rounds,
        help=f"how often each case has its turn ({rounds})",
    )
