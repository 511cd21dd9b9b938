"""NumPy: matrix products for each group of query heads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import (
    Problem,
    ProductOperands,
    group_queries,
    head_major,
    stack_mask,
    ungroup_queries,
)

__all__ = ["attention_calls", "product_calls"]


class _Attention:
    def __init__(self, problem: Problem, scale: float, dtype: type) -> None:
        self.problem = problem
        self.q = group_queries(problem) * np.float32(scale)
        self.mask = stack_mask(problem)
        self.k, self.v = (head_major(rows, dtype) for rows in (problem.k, problem.v))
        self.out = np.empty_like(self.q)

    def run(self) -> None:
        # Nothing is converted where the cache is f32 already.
        k, v = (rows.astype(np.float32, copy=False) for rows in (self.k, self.v))
        weights = self.q @ k.transpose(0, 2, 1)
        if self.mask is not None:
            weights += self.mask
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        np.matmul(weights, v, out=self.out)

    def result(self) -> np.ndarray:
        return ungroup_queries(self.out, self.problem)


def attention_calls(problem: Problem, scale: float, threads: int) -> Iterator[Call]:
    """Give f32, and f16 that is converted in each call."""
    for name, dtype, numpy_dtype in (("numpy", "f32", np.float32), ("numpy", "f16", np.float16)):
        attention = _Attention(problem, scale, numpy_dtype)
        yield Call(name, dtype, attention.run, attention.result)


class _Products:
    def __init__(self, operands: ProductOperands) -> None:
        self.operands = operands

    def run(self) -> None:
        for q, k, scores, weights, v, out in self.operands:
            np.matmul(q, k.T, out=scores)
            np.matmul(weights, v, out=out)

    def result(self) -> np.ndarray:
        return np.concatenate([out for *_, out in self.operands])


def product_calls(operands: ProductOperands, threads: int) -> Iterator[Call]:
    """Give the matrix products alone, in f32."""
    products = _Products(operands)
    yield Call("numpy", "f32", products.run, products.result)
