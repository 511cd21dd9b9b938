"""PyTorch: scaled_dot_product_attention with grouped heads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import head_major
from flashmetal.bench.peers.torch_tensors import DTYPES, as_tensor, hold_threads
from flashmetal.problems import DecodeProblem

__all__ = ["decode_calls"]


class _Attention:
    def __init__(self, problem: DecodeProblem, scale: float, dtype: str) -> None:
        self.scale = scale
        # A batch of one; one query row of each head.
        self.q = as_tensor(problem.q[None, :, None], dtype)
        self.k, self.v = (
            as_tensor(head_major(rows, np.float32)[None], dtype) for rows in (problem.k, problem.v)
        )

    @torch.inference_mode()
    def run(self) -> None:
        self.out = scaled_dot_product_attention(
            self.q, self.k, self.v, scale=self.scale, enable_gqa=True
        )

    def result(self) -> np.ndarray:
        return self.out[0, :, 0].float().numpy()


def decode_calls(problem: DecodeProblem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in each dtype, which q has, too."""
    hold_threads(threads)
    for dtype in DTYPES:
        attention = _Attention(problem, scale, dtype)
        yield Call("torch sdpa", dtype, attention.run, attention.result)
