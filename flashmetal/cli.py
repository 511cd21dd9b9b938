"""The `flashmetal` command."""

from __future__ import annotations

import argparse
import errno
import io
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from . import check
from ._device import Device
from .bench import command as bench
from .errors import FlashMetalError
from .info import as_text as info_as_text
from .info import gather
from .verify import as_text as reports_as_text
from .verify import engines_of, verify
from .verify_cases import grid

__all__ = ["main"]

STATUS_FAILED = 1
STATUS_REFUSED = 2
STATUS_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    0: all is well. 1: `verify` found a broken limit, `check` an error, or the output could not be
    written. 2: wrong usage, no device, or not enough memory. 130: interrupted.
    """
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows another in its place.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        _check_open()
        status = options.run(options)
        sys.stdout.flush()
        return status
    except FlashMetalError as error:
        return _complain(error, STATUS_REFUSED)
    except MemoryError as error:
        return _complain(f"not enough memory: {error}", STATUS_REFUSED)
    except KeyboardInterrupt:
        return _complain("interrupted", STATUS_INTERRUPTED)
    except OSError as error:
        # The interpreter flushes again at its end, which must not fail again.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return STATUS_FAILED
        return _complain(f"cannot write the output: {error.strerror}", STATUS_FAILED)


def _check_open() -> None:
    # print writes to a closed standard output, which is None, without a word.
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")


def _complain(problem: object, status: int) -> int:
    print(f"flashmetal: {problem}", file=sys.stderr)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="flashmetal", description="Attention kernels on Metal.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    info = commands.add_parser("info", help="show the device, versions and folders in use")
    info.set_defaults(run=_run_info)

    comparison = commands.add_parser("verify", help="compare the kernels with float64")
    comparison.add_argument(
        "--quick", action="store_true", help="a coarser grid, a few seconds long"
    )
    comparison.add_argument("--engine", help="only this engine of host Metal, e.g. simt")
    comparison.set_defaults(run=_run_verify)

    _add_check_parser(commands)
    bench.add_parser(commands)

    for command in (info, comparison):
        command.add_argument("--json", action="store_true", help="one JSON object on stdout")
        command.add_argument("--threads", type=int, metavar="N", help="CPU threads of host Metal")
    return parser


def _add_check_parser(commands: Any) -> None:
    parser = commands.add_parser("check", help="compile Metal sources and list their kernels")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument(
        "--define", action="append", default=[], metavar="NAME[=VALUE]", help="a macro"
    )
    parser.add_argument(
        "--constant",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a function constant by name or index; the VALUE of a vector as 1,2,3",
    )
    parser.add_argument(
        "--include", action="append", default=[], metavar="FOLDER", help="of headers to include"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(run=_run_check)


def _run_check(options: argparse.Namespace) -> int:
    try:
        constants = check.read_constants(options.constant)
    except ValueError:
        return _complain(
            "--constant takes INDEX=VALUE or NAME=VALUE, e.g. 0=128 or masked=true", STATUS_REFUSED
        )
    macros = check.read_macros(options.define)
    device = Device(engine="simt")
    try:
        headers = check.FolderHeaders(options.include)
        reports = [
            check.check_file(path, device, macros=macros, constants=constants, headers=headers)
            for path in options.files
        ]
    except OSError as error:
        return _complain(f"cannot read {error.filename}: {error.strerror}", STATUS_REFUSED)
    for key in check.unknown_constants(reports, constants):
        return _complain(f"--constant {key}: no file declares such a constant", STATUS_REFUSED)
    print(check.as_json(reports) if options.json else check.as_text(reports))
    return STATUS_FAILED if any(report["errors"] for report in reports) else 0


def _run_info(options: argparse.Namespace) -> int:
    facts = gather(options.threads)
    print(json.dumps(facts) if options.json else info_as_text(facts))
    return 0


def _run_verify(options: argparse.Namespace) -> int:
    engines = engines_of(options.engine, options.threads)
    reports = verify(engines, grid(options.quick), progress=sys.stderr)
    passed = not any(report.failures for report in reports)
    if options.json:
        entries = [report.as_dict() for report in reports]
        print(json.dumps({"passed": passed, "quick": options.quick, "engines": entries}))
    else:
        print(reports_as_text(reports))
    return 0 if passed else STATUS_FAILED
