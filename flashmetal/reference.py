"""Attention in float64 on exactly the stored values, and how far fp32 arithmetic may be from it.

`flashmetal verify` and the tests judge every kernel by this one definition of correct.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

__all__ = [
    "NMSE_LIMIT",
    "ROW_NMSE_LIMIT",
    "Accuracy",
    "Reference",
    "compare",
    "decode_reference",
    "default_scale",
]

# Of a correct fp32 kernel on unit-normal inputs; the smallest precision bug known, rounding q or
# the output to f16, costs 4e-8.
NMSE_LIMIT = 1e-10
ROW_NMSE_LIMIT = 4e-10

_UNIT_ROUNDOFF = 2.0**-24
_SMALLEST_NORMAL = 2.0**-126


@dataclass(frozen=True)
class Reference:
    """What a kernel should write, and how far each element may be from it.

    Parameters
    ----------
    output
        f64 ``[n_heads, head_dim]``.
    bound
        Largest permitted |Δ| of each element, same shape.
    """

    output: np.ndarray
    bound: np.ndarray


@dataclass(frozen=True)
class Accuracy:
    """How far a result is from its reference; infinite where one of them is NaN alone.

    Parameters
    ----------
    nmse
        Σ Δ² / Σ reference² over all elements.
    row_nmse
        The same of the worst head.
    ratio
        Largest |Δ| / bound: at most 1 for a correct kernel, whatever the input.
    """

    nmse: float
    row_nmse: float
    ratio: float

    @property
    def within_bound(self) -> bool:
        """Whether every element is within its bound."""
        return self.ratio <= 1

    @property
    def within_nmse_limits(self) -> bool:
        """Whether the mean errors are what unit-normal inputs permit."""
        return self.nmse <= NMSE_LIMIT and self.row_nmse <= ROW_NMSE_LIMIT


def default_scale(head_dim: int) -> float:
    """Return 1/√head_dim, rounded once to f32."""
    return float(np.float32(1 / math.sqrt(head_dim)))


def decode_reference(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float | None = None
) -> Reference:
    """Return attention of one query token, computed in float64.

    Parameters
    ----------
    q
        ``[n_heads, head_dim]``. Head h reads kv head ``h // (n_heads / n_kv_heads)``.
    k, v
        ``[seq_len, n_kv_heads, head_dim]``: the cache rows that count, as stored.
    scale
        Of the scores; `default_scale` unless given.

    Returns
    -------
    Reference
        The bound of an element is ``u·(8·S1 + 8·√N + 64)·Σp|v| + 2⁻¹²⁶`` with u = 2⁻²⁴, N rows,
        softmax weights p and S1 the largest ``scale·Σ|q·k|`` of the head: S1 stands for the error
        of the scores, √N for that of the sums, 64 for the exponential's.
    """
    head_dim = q.shape[1]
    seq_len, n_kv_heads, _ = k.shape
    if seq_len == 0:
        return Reference(np.zeros(q.shape), np.full(q.shape, _SMALLEST_NORMAL))

    factor = default_scale(head_dim) if scale is None else float(scale)
    # One matrix product per kv head serves all query heads of its group.
    grouped_q = q.astype(np.float64).reshape(n_kv_heads, -1, head_dim)
    keys = k.astype(np.float64).transpose(1, 2, 0)
    values = v.astype(np.float64).transpose(1, 0, 2)

    scores = factor * (grouped_q @ keys)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)

    largest_score = abs(factor) * (abs(grouped_q) @ abs(keys)).max(axis=-1, keepdims=True)
    steps = 8 * largest_score + 8 * np.sqrt(seq_len) + 64
    bound = _UNIT_ROUNDOFF * steps * (weights @ abs(values)) + _SMALLEST_NORMAL
    return Reference((weights @ values).reshape(q.shape), bound.reshape(q.shape))


def compare(actual: np.ndarray, reference: Reference) -> Accuracy:
    """Measure a kernel's output, f32 ``[n_heads, head_dim]``, against its reference."""
    expected = reference.output
    if actual.shape != expected.shape:
        raise ValueError(f"the output has shape {actual.shape}, its reference {expected.shape}")
    error = _absolute_error(actual.astype(np.float64), expected)
    ratio = np.divide(error, reference.bound, out=np.zeros_like(error), where=error > 0)
    return Accuracy(
        nmse=_relative_square(error.ravel(), expected.ravel()),
        row_nmse=max(map(_relative_square, error, expected)),
        ratio=float(np.where(np.isnan(ratio), np.inf, ratio).max()),
    )


def _absolute_error(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    # A comparison with NaN is false, so that a plain `error > limit` passes on NaN.
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, abs(actual - expected))
    return np.where(np.isnan(error), np.inf, error)


def _relative_square(error: np.ndarray, expected: np.ndarray) -> float:
    if not error.any():
        return 0.0
    size = np.square(np.nan_to_num(expected)).sum()
    return float(np.square(error).sum() / size) if size > 0 else np.inf
