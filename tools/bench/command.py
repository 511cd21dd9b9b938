"""The command `flashmetal bench`: a subcommand for each benchmark."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any

from flashmetal.bench import decode, dispatch, machine, plot, prefill

__all__ = ["add_parser"]

# Modules with NAME, HELP, add_arguments(parser) and run(options, progress) -> Result.
BENCHMARKS = (decode, prefill, dispatch)


def add_parser(commands: Any) -> None:
    """Add `bench` to the subparsers of the `flashmetal` command."""
    bench = commands.add_parser("bench", help="measure calls and kernels beside their peers")
    benchmarks = bench.add_subparsers(required=True, metavar="BENCHMARK")
    for benchmark in BENCHMARKS:
        parser = benchmarks.add_parser(
            benchmark.NAME, help=benchmark.HELP, description=benchmark.__doc__
        )
        benchmark.add_arguments(parser)
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
        parser.add_argument(
            "--plot", type=pathlib.Path, metavar="FILE", help="draw into FILE.svg or FILE.html"
        )
        parser.set_defaults(run=_run, benchmark=benchmark)


def _run(options: argparse.Namespace) -> int:
    if options.plot is not None:
        plot.check(options.plot)
    result = options.benchmark.run(options, sys.stderr)
    if options.plot is not None:
        plot.write(options.plot, f"flashmetal bench {options.benchmark.NAME}", result.charts())
    if options.json:
        print(json.dumps({"machine": machine.describe(), **result.as_dict()}))
    else:
        print(result.as_text())
    return 0
