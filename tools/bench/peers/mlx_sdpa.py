"""MLX on the CPU: fast.scaled_dot_product_attention."""

from __future__ import annotations

from collections.abc import Iterator

import mlx.core as mx
import numpy as np

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import head_major
from flashmetal.problems import DecodeProblem

__all__ = ["decode_calls"]

_DTYPES = {"f32": mx.float32, "f16": mx.float16}


class _Attention:
    def __init__(self, problem: DecodeProblem, scale: float, dtype: str) -> None:
        self.scale = scale
        arrays = (
            problem.q[None, :, None],
            *(head_major(rows, np.float32)[None] for rows in (problem.k, problem.v)),
        )
        self.q, self.k, self.v = (mx.array(array).astype(_DTYPES[dtype]) for array in arrays)
        mx.eval(self.q, self.k, self.v)

    def run(self) -> None:
        self.out = mx.fast.scaled_dot_product_attention(self.q, self.k, self.v, scale=self.scale)
        mx.eval(self.out)

    def result(self) -> np.ndarray:
        return np.array(self.out.astype(mx.float32))[0, :, 0]


def decode_calls(problem: DecodeProblem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in f32 and f16, which q has, too."""
    mx.set_default_device(mx.cpu)
    for dtype in _DTYPES:
        attention = _Attention(problem, scale, dtype)
        yield Call("mlx sdpa", dtype, attention.run, attention.result)
