"""A problem's arrays as most libraries want them: each kv head's rows in one piece."""

from __future__ import annotations

import numpy as np

from flashmetal.problems import DecodeProblem

__all__ = ["grouped_queries", "head_major"]


def grouped_queries(problem: DecodeProblem) -> np.ndarray:
    """Return q as f32 ``[n_kv_heads, group, head_dim]``."""
    return problem.q.reshape(problem.shape.n_kv_heads, -1, problem.shape.head_dim)


def head_major(rows: np.ndarray, dtype: type) -> np.ndarray:
    """Return K or V as ``[n_kv_heads, seq_len, head_dim]``."""
    return np.ascontiguousarray(rows.transpose(1, 0, 2), dtype)
