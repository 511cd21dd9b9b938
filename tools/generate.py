#!/usr/bin/env python3
"""Let SmolLM2 answer a prompt, its attention computed by flashmetal."""

from __future__ import annotations

import argparse
import errno
import functools
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from smollm.errors import GenerateError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from smollm.assistant import Assistant
    from smollm.attention import Attention
    from smollm.check import Check
    from smollm.gguf_file import ModelConfig

DEFAULT_PROMPT = "What is the capital of France?"
ANSWER_TOKENS = 256
CHECKED_TOKENS = 64
NEEDED_PACKAGES = {"numpy", "gguf", "tokenizers", "flashmetal"}

STATUS_FAILED = 1
STATUS_REFUSED = 2
STATUS_INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = _parse(arguments)
    # Before NumPy is loaded: its BLAS threads spin while they wait, on cores that attention needs.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        _open_output()
        return _answer(options)
    except ModuleNotFoundError as error:
        if error.name not in NEEDED_PACKAGES:
            raise
        return _refuse(MissingPackageError(error.name))
    except GenerateError as error:
        return _refuse(error)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return STATUS_INTERRUPTED
    except _flashmetal_errors() as error:
        # Below what was streamed. A compiler's text has more lines than say what happened.
        print(f"\ngenerate.py: {str(error).splitlines()[0]}", file=sys.stderr)
        return STATUS_FAILED
    except OSError as error:
        # The flush at exit must not meet what cannot be written again.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"generate.py: cannot write the answer: {error.strerror}", file=sys.stderr)
        return STATUS_FAILED


def _open_output() -> None:
    # print writes to a closed standard output, which is None, without a word.
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    # A terminal that lacks a character shows another in its place; the answer goes on.
    sys.stdout.reconfigure(errors="replace")


def _flashmetal_errors() -> tuple[type[Exception], ...]:
    # NumPy attention does without the package.
    module = sys.modules.get("flashmetal.errors")
    return (module.FlashMetalError,) if module else ()


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="generate.py", description=__doc__)
    parser.add_argument("prompt", nargs="?", default=DEFAULT_PROMPT, help="default: %(default)r")
    parser.add_argument("--system", metavar="TEXT", help="system prompt; default: the model's own")
    parser.add_argument(
        "--max-tokens",
        type=_positive,
        metavar="N",
        help=f"default: {ANSWER_TOKENS}, or {CHECKED_TOKENS} with --check",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare the tokens with the choices of NumPy attention: at least "
        f"{CHECKED_TOKENS}, past the answer's end if need be; status 1 when one differs, unless "
        "it is a near tie, which the rounding of the prompt's attention decides",
    )
    parser.add_argument(
        "--attention",
        choices=("flashmetal", "numpy"),
        default="flashmetal",
        help="what computes attention; default: %(default)s",
    )
    parser.add_argument(
        "--engine", choices=("auto", "native", "simt"), help="engine of flashmetal's host device"
    )
    parser.add_argument(
        "--row-by-row",
        action="store_true",
        help="let the prompt through the model token by token, to see what all at once saves",
    )
    parser.add_argument("--model", type=Path, metavar="FILE", help="another GGUF file")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of streaming text"
    )
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


def _token_count(options: argparse.Namespace) -> int:
    if options.check:
        return max(options.max_tokens or 0, CHECKED_TOKENS)
    return options.max_tokens or ANSWER_TOKENS


def _answer(options: argparse.Namespace) -> int:
    from smollm.answer import Answer
    from smollm.assistant import Assistant
    from smollm.greedy import generate, transcribe
    from smollm.measured_attention import MeasuredAttention
    from smollm.report import Report

    # Before the model, so that a missing package or device is told at once.
    open_attention = _attention_opener(options)
    began = time.perf_counter()
    assistant = Assistant(options.model)
    load_seconds = time.perf_counter() - began

    count = _token_count(options)
    prompt = assistant.encode(options.prompt, count, options.system)
    opened = open_attention(assistant.model.config, len(prompt) + count)
    attention = MeasuredAttention(opened, len(prompt))

    answer = Answer(assistant.tokenizer, _discard if options.json else _stream)
    transcript = transcribe(
        generate(assistant.model, attention, prompt, options.row_by_row),
        count,
        stop=None if options.check else assistant.tokenizer.end_of_turn,
        on_token=answer.push,
    )
    answer.finish()
    report = Report.of(options.attention, len(prompt), load_seconds, transcript, attention)
    if not options.json:
        print("\n", *report.lines(), sep="\n")

    check = _check(options, assistant, prompt, transcript.tokens) if options.check else None
    if options.json:
        checked = check.as_json() if check else {}
        print(json.dumps({"text": answer.text, **report.as_json(), **checked}))
    elif check:
        print(*check.lines(), sep="\n")
    return STATUS_FAILED if check and check.faults else 0


def _check(
    options: argparse.Namespace, assistant: Assistant, prompt: list[int], tokens: list[int]
) -> Check:
    from smollm.check import Check, find_differences

    rounds = options.attention == "flashmetal" and not options.row_by_row
    differences = find_differences(assistant.model, prompt, tokens, rounds)
    return Check(len(tokens), differences, assistant.describe)


def _attention_opener(options: argparse.Namespace) -> Callable[[ModelConfig, int], Attention]:
    if options.attention == "numpy":
        from smollm.attention import NumpyAttention

        return NumpyAttention
    from smollm.flashmetal_attention import FlashmetalAttention, open_device

    return functools.partial(FlashmetalAttention, device=open_device(options.engine))


def _stream(piece: str) -> None:
    print(piece, end="", flush=True)


def _discard(piece: str) -> None:
    pass


def _refuse(error: GenerateError) -> int:
    print(f"generate.py: {error}", file=sys.stderr)
    return STATUS_REFUSED


if __name__ == "__main__":
    sys.exit(main())
