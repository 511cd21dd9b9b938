"""The machine that a benchmark runs on, and the threads that its libraries start."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

import numpy as np

import flashmetal

__all__ = ["describe", "hold_threads"]

# How many threads the libraries of a process start, which they read when they are loaded.
_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NPROC",
)


def hold_threads(threads: int) -> None:
    """Start the program anew unless its libraries hold to this number of threads."""
    wanted = dict.fromkeys(_VARIABLES, str(threads))
    if all(os.environ.get(name) == value for name, value in wanted.items()):
        return
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **wanted})


def describe() -> dict[str, Any]:
    """Return what a figure depends on, ready for JSON."""
    return {
        "flashmetal": flashmetal.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "processor": _processor(),
        "processors": os.cpu_count(),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()
