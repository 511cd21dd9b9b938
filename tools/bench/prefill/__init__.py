"""Prefill attention: our engine beside every peer that is installed and the machine's limits."""

from __future__ import annotations

import argparse
from typing import TextIO

from flashmetal.bench import machine
from flashmetal.bench.options import add_comparison, positive, positives
from flashmetal.bench.prefill import comparison
from flashmetal.bench.prefill.engine import Engine
from flashmetal.bench.prefill.masks import MASKS, make_masked_problem
from flashmetal.bench.result import Result
from flashmetal.prefill_problems import PrefillShape

__all__ = ["HELP", "NAME", "add_arguments", "run"]

NAME = "prefill"
HELP = "prefill attention beside other libraries, matrix products and the machine's limits"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--heads", type=positive, default=8, help="query heads (8)")
    parser.add_argument("--kv-heads", type=positive, default=2, help="heads of K and V (2)")
    parser.add_argument(
        "--head-dim",
        type=positives,
        default=(256, 512),
        help="512, or multiples of 4 to 256 (256,512)",
    )
    parser.add_argument("--rows", type=positives, default=(128, 512), help="query rows (128,512)")
    parser.add_argument(
        "--keys", type=positives, default=(1024, 4096), help="rows of K and V (1024,4096)"
    )
    parser.add_argument(
        "--mask",
        choices=MASKS,
        default="dense",
        help="dense: every cell is added; causal: the last row sees all keys; open: no mask",
    )
    add_comparison(parser, rounds=5)


def run(options: argparse.Namespace, progress: TextIO) -> Result:
    """Measure; `progress` takes a bar when it is a terminal."""
    shapes = [
        PrefillShape(rows, options.heads, options.kv_heads, head_dim, keys)
        for head_dim in options.head_dim
        for rows in options.rows
        for keys in options.keys
    ]
    for shape in shapes:
        # Refuses what the engine does not serve before anything is measured.
        smallest = make_masked_problem(shape._replace(rows=1, kv_len=1), options.mask)
        Engine(smallest, options.threads).run()
    machine.hold_threads(options.threads)
    return comparison.run(
        shapes, options.mask, options.threads, options.peers, options.rounds, progress
    )
