"""MLX on the CPU: fast.scaled_dot_product_attention."""

from __future__ import annotations

from collections.abc import Iterator

import mlx.core as mx
import numpy as np

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import Problem, head_major, mask_of, queries_of

__all__ = ["attention_calls"]

_DTYPES = {"f32": mx.float32, "f16": mx.float16}


class _Attention:
    def __init__(self, problem: Problem, scale: float, dtype: str) -> None:
        self.scale = scale
        self.shape = problem.q.shape
        self.q, self.k, self.v = (
            mx.array(head_major(rows, np.float32)[None]).astype(_DTYPES[dtype])
            for rows in (queries_of(problem), problem.k, problem.v)
        )
        mask = mask_of(problem)
        self.mask = None if mask is None else mx.array(mask).astype(_DTYPES[dtype])
        mx.eval([array for array in (self.q, self.k, self.v, self.mask) if array is not None])

    def run(self) -> None:
        self.out = mx.fast.scaled_dot_product_attention(
            self.q, self.k, self.v, scale=self.scale, mask=self.mask
        )
        mx.eval(self.out)

    def result(self) -> np.ndarray:
        return np.array(self.out.astype(mx.float32))[0].transpose(1, 0, 2).reshape(self.shape)


def attention_calls(problem: Problem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in f32 and f16, which q has, too."""
    mx.set_default_device(mx.cpu)
    for dtype in _DTYPES:
        attention = _Attention(problem, scale, dtype)
        yield Call("mlx sdpa", dtype, attention.run, attention.result)
