"""PyTorch: matrix products for each group of query heads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import grouped_queries, head_major
from flashmetal.bench.peers.torch_tensors import DTYPES, as_tensor, hold_threads
from flashmetal.problems import DecodeProblem

__all__ = ["decode_calls"]


class _Attention:
    def __init__(self, problem: DecodeProblem, scale: float, dtype: str) -> None:
        self.shape = problem.q.shape
        self.q = as_tensor(grouped_queries(problem) * np.float32(scale), dtype)
        self.k, self.v = (
            as_tensor(head_major(rows, np.float32), dtype) for rows in (problem.k, problem.v)
        )

    @torch.inference_mode()
    def run(self) -> None:
        weights = torch.softmax(torch.matmul(self.q, self.k.transpose(1, 2)), dim=-1)
        self.out = torch.matmul(weights, self.v)

    def result(self) -> np.ndarray:
        return self.out.float().numpy().reshape(self.shape)


def decode_calls(problem: DecodeProblem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in each dtype, which q has, too."""
    hold_threads(threads)
    for dtype in DTYPES:
        attention = _Attention(problem, scale, dtype)
        yield Call("torch matmul", dtype, attention.run, attention.result)
