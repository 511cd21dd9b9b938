"""What a dispatch costs on its way to the device, stage by stage, beside floors, C and peers."""

from __future__ import annotations

import argparse
from typing import TextIO

from flashmetal.bench.dispatch import scenario
from flashmetal.bench.dispatch.bindings import BINDINGS
from flashmetal.bench.options import add_peers, positives
from flashmetal.bench.queues import PEERS as QUEUES
from flashmetal.bench.result import Result
from flashmetal.errors import InvalidArgument

__all__ = ["HELP", "NAME", "PEERS", "add_arguments", "run"]

NAME = "dispatch"
HELP = "what a call costs on the way to the device"
PEERS = (*BINDINGS, *QUEUES)
MOST_IN_FLIGHT = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument(
        "--dispatches",
        type=positives,
        default=(1, 4, 16, 64, 256),
        help="of the command buffers that the lines go through (1,4,16,64,256)",
    )
    parser.add_argument(
        "--in-flight",
        type=positives,
        default=(1, 2, 4, 8),
        help=f"command buffers, up to {MOST_IN_FLIGHT} (1,2,4,8)",
    )
    add_peers(parser, PEERS, rounds=100)


def run(options: argparse.Namespace, progress: TextIO) -> Result:
    """Measure; `progress` takes a bar when it is a terminal."""
    if len(set(options.dispatches)) < 2:
        raise InvalidArgument("--dispatches: a line goes through two numbers at least")
    if max(options.in_flight) > MOST_IN_FLIGHT:
        raise InvalidArgument(f"--in-flight: {MOST_IN_FLIGHT} at most")
    return scenario.run(
        options.rounds, options.peers, options.dispatches, options.in_flight, progress
    )
