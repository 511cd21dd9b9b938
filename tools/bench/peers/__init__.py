"""Other libraries' attention, a file each: `attention_calls(problem, scale, threads)`.

The problem is one of decode or of prefill.

A file is imported when it is wanted, and fails to be where its library is not installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["PEERS", "PRODUCTS", "Call", "gather"]

PEERS = (
    "numpy_matmul",
    "torch_sdpa",
    "torch_matmul",
    "ggml_flash_attention",
    "mlx_sdpa",
    "jax_sdpa",
    "onnxruntime_attention",
)

# Those that give matrix products alone, too: `product_calls(operands, threads)`.
PRODUCTS = ("numpy_matmul", "torch_matmul")


class Call(NamedTuple):
    """A way to compute a problem.

    Parameters
    ----------
    name
        Of the library and what it does.
    dtype
        That it reads K and V in: f32, f16 or bf16.
    run
        Computes it once, to the end.
    result
        Gives the last run's output, shaped as the problem's q.
    """

    name: str
    dtype: str
    run: Callable[[], object]
    result: Callable[[], np.ndarray]


def gather(
    names: Sequence[str], function: str, *arguments: Any
) -> tuple[list[Call], dict[str, str]]:
    """Make the calls of some peers.

    Parameters
    ----------
    names
        Some of `PEERS`.
    function
        Of their modules, which gives calls.
    arguments
        The function's.

    Returns
    -------
    tuple
        The calls, each of which has run once, and why peers are left out, by name.
    """
    calls: list[Call] = []
    left_out: dict[str, str] = {}
    for name in names:
        try:
            module = importlib.import_module(f"{__name__}.{name}")
            for call in getattr(module, function)(*arguments):
                call.run()
                calls.append(call)
        except ImportError as error:
            left_out[name] = f"not installed: {error.name or error}"
        except Exception as error:  # a library may fail in any way where it does not fit
            left_out[name] = f"{type(error).__name__}: {error}"
    return calls, left_out
