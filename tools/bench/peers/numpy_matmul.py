"""NumPy: matrix products for each group of query heads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import grouped_queries, head_major
from flashmetal.problems import DecodeProblem

__all__ = ["decode_calls"]


class _Attention:
    def __init__(self, problem: DecodeProblem, scale: float, dtype: type) -> None:
        self.shape = problem.q.shape
        self.q = grouped_queries(problem) * np.float32(scale)
        self.k, self.v = (head_major(rows, dtype) for rows in (problem.k, problem.v))
        self.out = np.empty_like(self.q)

    def run(self) -> None:
        # Nothing is converted where the cache is f32 already.
        k, v = (rows.astype(np.float32, copy=False) for rows in (self.k, self.v))
        weights = self.q @ k.transpose(0, 2, 1)
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        np.matmul(weights, v, out=self.out)

    def result(self) -> np.ndarray:
        return self.out.reshape(self.shape)


def decode_calls(problem: DecodeProblem, scale: float, threads: int) -> Iterator[Call]:
    """Give f32, and f16 that is converted in each call."""
    for name, dtype, numpy_dtype in (("numpy", "f32", np.float32), ("numpy", "f16", np.float16)):
        attention = _Attention(problem, scale, numpy_dtype)
        yield Call(name, dtype, attention.run, attention.result)
