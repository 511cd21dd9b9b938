"""PyTorch: scaled_dot_product_attention with grouped heads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import Problem, head_major, mask_of, queries_of
from flashmetal.bench.peers.torch_tensors import DTYPES, as_tensor, hold_threads

__all__ = ["attention_calls"]


class _Attention:
    def __init__(self, problem: Problem, scale: float, dtype: str) -> None:
        self.scale = scale
        self.shape = problem.q.shape
        # A batch of one.
        self.q, self.k, self.v = (
            as_tensor(head_major(rows, np.float32)[None], dtype)
            for rows in (queries_of(problem), problem.k, problem.v)
        )
        mask = mask_of(problem)
        self.mask = None if mask is None else as_tensor(mask, dtype)

    @torch.inference_mode()
    def run(self) -> None:
        self.out = scaled_dot_product_attention(
            self.q, self.k, self.v, attn_mask=self.mask, scale=self.scale, enable_gqa=True
        )

    def result(self) -> np.ndarray:
        return self.out[0].transpose(0, 1).float().numpy().reshape(self.shape)


def attention_calls(problem: Problem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in each dtype, which q has, too."""
    hold_threads(threads)
    for dtype in DTYPES:
        attention = _Attention(problem, scale, dtype)
        yield Call("torch sdpa", dtype, attention.run, attention.result)
