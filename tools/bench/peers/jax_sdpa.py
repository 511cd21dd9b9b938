"""JAX on the CPU: nn.dot_product_attention, compiled."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import Problem, mask_of, queries_of

__all__ = ["attention_calls"]

# On the CPU it has no products of f16.
_DTYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16}


class _Attention:
    def __init__(self, problem: Problem, scale: float, dtype: str) -> None:
        # A batch of one; token-major, as JAX has it.
        arrays = [queries_of(problem)[None], problem.k[None], problem.v[None]]
        mask = mask_of(problem)
        if mask is not None:
            arrays.append(mask[None, None])
        self.shape = problem.q.shape
        device = jax.devices("cpu")[0]
        self.arrays = [
            jax.device_put(jnp.asarray(array, _DTYPES[dtype]), device) for array in arrays
        ]
        self.call = jax.jit(functools.partial(jax.nn.dot_product_attention, scale=scale))
        self.run()

    def run(self) -> None:
        self.out = self.call(*self.arrays).block_until_ready()

    def result(self) -> np.ndarray:
        return np.asarray(self.out, np.float32).reshape(self.shape)


def attention_calls(problem: Problem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in each dtype, which q has, too."""
    for dtype in _DTYPES:
        attention = _Attention(problem, scale, dtype)
        yield Call("jax sdpa", dtype, attention.run, attention.result)
