"""PyTorch: matrix products for each group of query heads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import (
    Problem,
    ProductOperands,
    group_queries,
    head_major,
    stack_mask,
    ungroup_queries,
)
from flashmetal.bench.peers.torch_tensors import DTYPES, as_tensor, hold_threads

__all__ = ["attention_calls", "product_calls"]


class _Attention:
    def __init__(self, problem: Problem, scale: float, dtype: str) -> None:
        self.problem = problem
        self.q = as_tensor(group_queries(problem) * np.float32(scale), dtype)
        mask = stack_mask(problem)
        self.mask = None if mask is None else as_tensor(mask, dtype)
        self.k, self.v = (
            as_tensor(head_major(rows, np.float32), dtype) for rows in (problem.k, problem.v)
        )

    @torch.inference_mode()
    def run(self) -> None:
        scores = torch.matmul(self.q, self.k.transpose(1, 2))
        if self.mask is not None:
            scores += self.mask
        self.out = torch.matmul(torch.softmax(scores, dim=-1), self.v)

    def result(self) -> np.ndarray:
        return ungroup_queries(self.out.float().numpy(), self.problem)


def attention_calls(problem: Problem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in each dtype, which q has, too."""
    hold_threads(threads)
    for dtype in DTYPES:
        attention = _Attention(problem, scale, dtype)
        yield Call("torch matmul", dtype, attention.run, attention.result)


class _Products:
    def __init__(self, operands: ProductOperands) -> None:
        self.operands = [tuple(map(torch.from_numpy, arrays)) for arrays in operands]

    @torch.inference_mode()
    def run(self) -> None:
        for q, k, scores, weights, v, out in self.operands:
            torch.matmul(q, k.T, out=scores)
            torch.matmul(weights, v, out=out)

    def result(self) -> np.ndarray:
        return np.concatenate([out.numpy() for *_, out in self.operands])


def product_calls(operands: ProductOperands, threads: int) -> Iterator[Call]:
    """Give the matrix products alone, in f32."""
    hold_threads(threads)
    products = _Products(operands)
    yield Call("torch", "f32", products.run, products.result)
