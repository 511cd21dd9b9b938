"""Prefill attention in float64 that rounds where the kernel does, key tile by key tile."""

import numpy as np

from flashmetal.reference import default_scale

KEYS_PER_STEP = 64
SLACK = 8


def rounded_prefill(problem, scale=None):
    """Return the output, f64 ``[rows, n_heads, head_dim]``."""
    rows, n_heads, _, head_dim, kv_len = problem.shape
    factor = np.float32(default_scale(head_dim) if scale is None else scale)
    query = (problem.q * factor).astype(np.float16).astype(np.float64)
    group = n_heads // problem.k.shape[1]
    out = np.empty((rows, n_heads, head_dim))
    for head in range(n_heads):
        keys = problem.k[:, head // group].astype(np.float64)
        values = problem.v[:, head // group].astype(np.float64)
        scores = query[:, head] @ keys.T + problem.mask
        state = _State(rows, head_dim)
        for first in range(0, kv_len, KEYS_PER_STEP):
            step = slice(first, first + KEYS_PER_STEP)
            state.step(scores[:, step], values[step])
        out[:, head] = state.output()
    return out


class _State:
    """Of the rows of a head: running peak, sum of weights, output that is yet to be divided."""

    def __init__(self, rows, head_dim):
        self.peak = np.full(rows, -np.finfo(np.float32).max / 2, np.float64)
        self.sum = np.zeros(rows)
        self.out = np.zeros((rows, head_dim))

    def step(self, scores, values):
        peak = np.maximum(self.peak, scores.max(axis=1))
        raised = peak > self.peak + SLACK
        factor = np.where(raised, np.exp(self.peak - peak), 1)
        self.peak = np.where(raised, peak, self.peak)
        weights = np.exp(scores - self.peak[:, None]).astype(np.float16).astype(np.float64)
        self.sum = self.sum * factor + weights.sum(axis=1)
        self.out = self.out * factor[:, None] + weights @ values

    def output(self):
        seen = self.sum > 0
        return np.where(seen[:, None], self.out / np.where(seen, self.sum, 1)[:, None], 0)
