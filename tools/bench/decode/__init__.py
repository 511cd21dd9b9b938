"""Decode attention: our engine beside every peer that is installed and the machine's limits."""

from __future__ import annotations

import argparse
from typing import TextIO

from flashmetal.bench import machine
from flashmetal.bench.decode import comparison
from flashmetal.bench.decode.engine import Engine
from flashmetal.bench.options import add_comparison, positive, positives
from flashmetal.bench.result import Result
from flashmetal.problems import DecodeShape, make_problem

__all__ = ["HELP", "NAME", "add_arguments", "run"]

NAME = "decode"
HELP = "decode attention beside other libraries and the machine's limits"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--heads", type=positive, default=32, help="query heads (32)")
    parser.add_argument("--kv-heads", type=positive, default=8, help="heads of K and V (8)")
    parser.add_argument(
        "--head-dim", type=positives, default=(64, 128), help="multiples of 4 to 128 (64,128)"
    )
    parser.add_argument(
        "--keys",
        type=positives,
        default=(1024, 4096, 16384, 65536),
        help="rows of the cache (1024,4096,16384,65536)",
    )
    add_comparison(parser, rounds=10)


def run(options: argparse.Namespace, progress: TextIO) -> Result:
    """Measure; `progress` takes a bar when it is a terminal."""
    shapes = [
        DecodeShape(options.heads, options.kv_heads, head_dim, keys)
        for head_dim in options.head_dim
        for keys in options.keys
    ]
    for shape in shapes:
        # Refuses what the engine does not serve before anything is measured.
        Engine(make_problem(shape._replace(seq_len=1)), options.threads)
    machine.hold_threads(options.threads)
    return comparison.run(shapes, options.threads, options.peers, options.rounds, progress)
