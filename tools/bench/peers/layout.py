"""A problem's arrays as most libraries want them: each kv head's rows in one piece."""

from __future__ import annotations

import numpy as np

from flashmetal.prefill_problems import PrefillProblem, PrefillShape
from flashmetal.problems import DecodeProblem

__all__ = [
    "Problem",
    "ProductOperands",
    "group_queries",
    "head_major",
    "mask_of",
    "product_operands",
    "queries_of",
    "stack_mask",
    "ungroup_queries",
]

Problem = DecodeProblem | PrefillProblem
# Of each kv head: queries, keys, the room for scores; weights, values, the room for outputs.
ProductOperands = list[tuple[np.ndarray, ...]]


def queries_of(problem: Problem) -> np.ndarray:
    """Return q as ``[rows, n_heads, head_dim]``: decode has one row."""
    return problem.q.reshape(-1, *problem.q.shape[-2:])


def mask_of(problem: Problem) -> np.ndarray | None:
    """Return the mask, f16 ``[rows, keys]``; None where there is none."""
    return problem.mask if isinstance(problem, PrefillProblem) else None


def group_queries(problem: Problem) -> np.ndarray:
    """Return q as f32 ``[n_kv_heads, group · rows, head_dim]``: of a group, head after head."""
    q = queries_of(problem)
    return q.transpose(1, 0, 2).reshape(problem.shape.n_kv_heads, -1, q.shape[-1])


def ungroup_queries(grouped: np.ndarray, problem: Problem) -> np.ndarray:
    """Return what has the layout of `group_queries` in that of q."""
    rows, n_heads, head_dim = queries_of(problem).shape
    whole = grouped.reshape(n_heads, rows, head_dim).transpose(1, 0, 2)
    return whole.reshape(problem.q.shape)


def stack_mask(problem: Problem) -> np.ndarray | None:
    """Return the mask as f32 ``[group · rows, keys]``, for all heads of a group."""
    mask = mask_of(problem)
    if mask is None:
        return None
    group = problem.shape.n_heads // problem.shape.n_kv_heads
    return np.tile(mask.astype(np.float32), (group, 1))


def head_major(rows: np.ndarray, dtype: type) -> np.ndarray:
    """Return q, K or V as ``[heads, rows, head_dim]``."""
    return np.ascontiguousarray(rows.transpose(1, 0, 2), dtype)


def product_operands(shape: PrefillShape, seed: int = 0) -> ProductOperands:
    """Make f32 operands of attention's two matrix products, all distinct, and room for results."""
    rows, n_heads, n_kv_heads, head_dim, keys = shape
    queries = n_heads // n_kv_heads * rows
    random = np.random.default_rng(seed)

    def draw(*sizes: int) -> np.ndarray:
        return random.standard_normal(sizes, np.float32)

    return [
        (
            draw(queries, head_dim),
            draw(keys, head_dim),
            np.zeros((queries, keys), np.float32),
            draw(queries, keys),
            draw(keys, head_dim),
            np.zeros((queries, head_dim), np.float32),
        )
        for _ in range(n_kv_heads)
    ]
