"""JAX on the CPU: nn.dot_product_attention, compiled."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from flashmetal.bench.peers import Call
from flashmetal.problems import DecodeProblem

__all__ = ["decode_calls"]

# On the CPU it has no products of f16.
_DTYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16}


class _Attention:
    def __init__(self, problem: DecodeProblem, scale: float, dtype: str) -> None:
        # A batch of one; token-major, as JAX has it.
        arrays = problem.q[None, None], problem.k[None], problem.v[None]
        device = jax.devices("cpu")[0]
        self.arrays = [
            jax.device_put(jnp.asarray(array, _DTYPES[dtype]), device) for array in arrays
        ]
        self.call = jax.jit(functools.partial(jax.nn.dot_product_attention, scale=scale))
        self.run()

    def run(self) -> None:
        self.out = self.call(*self.arrays).block_until_ready()

    def result(self) -> np.ndarray:
        return np.asarray(self.out, np.float32)[0, 0]


def decode_calls(problem: DecodeProblem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in each dtype, which q has, too."""
    for dtype in _DTYPES:
        attention = _Attention(problem, scale, dtype)
        yield Call("jax sdpa", dtype, attention.run, attention.result)
