"""Attention in float64 on exactly the stored values, and how far the kernels may be from it.

`flashmetal verify` and the tests judge every kernel by this one definition of correct.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

__all__ = [
    "DECODE_LIMITS",
    "FEW_ROWS",
    "FEW_ROWS_LIMITS",
    "NARROW",
    "PREFILL_LIMITS",
    "Accuracy",
    "Limits",
    "Reference",
    "compare",
    "decode_reference",
    "default_scale",
    "prefill_reference",
]


class Limits(NamedTuple):
    """Largest mean errors of a correct kernel on unit-normal inputs: Σ Δ² / Σ reference².

    Parameters
    ----------
    nmse
        Over all elements.
    row_nmse
        Of the worst head of a row.
    """

    nmse: float
    row_nmse: float


# All in fp32; the smallest precision bug known, rounding q or the output to f16, costs 4e-8.
DECODE_LIMITS = Limits(1e-10, 4e-10)
# Rounding q and the weights to f16 costs 4e-8 each; a lost or a leaked key costs far more.
PREFILL_LIMITS = Limits(2e-7, 1e-6)
# Of a few rows the mean varies more, and so it does of more rows of a few elements.
FEW_ROWS = 8
FEW_ROWS_LIMITS = Limits(4e-7, 1e-6)
NARROW = 64  # head_dim
# A row of few elements may by chance be all but zero, beside an error that is not: how often one
# may do worse than its limit that had the mean error of PREFILL_LIMITS. At NARROW that is 1e-6.
_WORSE_ROWS = 1e-5

_UNIT_ROUNDOFF = 2.0**-24
_F16_ROUNDOFF = 2.0**-11
_SMALLEST_F16_WEIGHT = 2.0**-25  # smaller ones round to 0
_SMALLEST_NORMAL = 2.0**-126


@dataclass(frozen=True)
class Reference:
    """What a kernel should write, and how far each element may be from it.

    Parameters
    ----------
    output
        f64 ``[n_heads, head_dim]`` or ``[rows, n_heads, head_dim]``.
    bound
        Largest permitted |Δ| of each element, same shape.
    limits
        Largest permitted mean errors on unit-normal inputs.
    """

    output: np.ndarray
    bound: np.ndarray
    limits: Limits = DECODE_LIMITS


@dataclass(frozen=True)
class Accuracy:
    """How far a result is from its reference; infinite where one of them is NaN alone.

    Parameters
    ----------
    nmse
        Σ Δ² / Σ reference² over all elements.
    row_nmse
        The same of the worst head of a row.
    ratio
        Largest |Δ| / bound: at most 1 for a correct kernel, whatever the input.
    limits
        What the mean errors may be on unit-normal inputs.
    """

    nmse: float
    row_nmse: float
    ratio: float
    limits: Limits = DECODE_LIMITS

    @property
    def within_bound(self) -> bool:
        """Whether every element is within its bound."""
        return self.ratio <= 1

    @property
    def within_nmse_limits(self) -> bool:
        """Whether the mean errors are what unit-normal inputs permit."""
        return self.nmse <= self.limits.nmse and self.row_nmse <= self.limits.row_nmse


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
    seq_len = len(k)
    if seq_len == 0:
        return Reference(np.zeros(q.shape), np.full(q.shape, _SMALLEST_NORMAL))
    problem = _Problem.of(q[None], k, v, np.zeros((1, seq_len)), scale)
    weights = problem.weights()
    bound = problem.fp32_bound(weights)
    return Reference(*(problem.ungroup(x)[0] for x in (weights @ problem.values, bound)))


def prefill_reference(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray, scale: float | None = None
) -> Reference:
    """Return attention of many query rows, computed in float64.

    Parameters
    ----------
    q
        ``[rows, n_heads, head_dim]``. Head h reads kv head ``h // (n_heads / n_kv_heads)``.
    k, v
        ``[n, n_kv_heads, head_dim]``, n from 1 on, as stored.
    mask
        ``[rows, n]``, added to the scores of every head; −inf hides a key.
    scale
        Of the scores; `default_scale` unless given.

    Returns
    -------
    Reference
        Zeros where a row sees no key. The bound of an element is that of `decode_reference`, with
        the mask's finite cells counted as parts of the scores, and what rounding q and the weights
        to f16 adds: ``2h·(1 + S2)·Σp|v| + N·2⁻²⁵·max|v|`` with h = 2⁻¹¹, N visible keys and S2 the
        largest ``scale·√Σq²k²`` of them.
    """
    problem = _Problem.of(q, k, v, mask, scale)
    weights = problem.weights()
    bound = problem.fp32_bound(weights) + problem.f16_bound(weights)
    limits = _prefill_limits(len(q), q.shape[-1])
    output = weights @ problem.values
    return Reference(problem.ungroup(output), problem.ungroup(bound), limits)


def _prefill_limits(rows: int, head_dim: int) -> Limits:
    if head_dim >= NARROW:
        return FEW_ROWS_LIMITS if rows < FEW_ROWS else PREFILL_LIMITS
    few_rows = rows * head_dim < FEW_ROWS * NARROW
    limits = FEW_ROWS_LIMITS if few_rows else PREFILL_LIMITS
    return limits._replace(row_nmse=_narrow_row_limit(head_dim))


def _narrow_row_limit(head_dim: int) -> float:
    # Error and output of a row are about as two independent vectors of d normal numbers, and the
    # ratio of their squares exceeds x less often than C(d − 1, d/2) · x^(−d/2).
    ways = math.comb(head_dim - 1, head_dim // 2)
    return PREFILL_LIMITS.nmse * (ways / _WORSE_ROWS) ** (2 / head_dim)


@dataclass(frozen=True)
class _Problem:
    """Arrays in float64, the query rows of a group side by side: one product serves them all."""

    queries: np.ndarray  # [n_kv_heads, group · rows, head_dim]
    keys: np.ndarray  # [n_kv_heads, head_dim, n]
    values: np.ndarray  # [n_kv_heads, n, head_dim]
    mask: np.ndarray  # [group · rows, n]
    factor: float
    shape: tuple[int, int, int]  # of q

    @classmethod
    def of(
        cls, q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray, scale: float | None
    ) -> _Problem:
        _, n_heads, head_dim = q.shape
        n_kv_heads = k.shape[1]
        return cls(
            q.astype(np.float64).transpose(1, 0, 2).reshape(n_kv_heads, -1, head_dim),
            k.astype(np.float64).transpose(1, 2, 0),
            v.astype(np.float64).transpose(1, 0, 2),
            np.tile(mask.astype(np.float64), (n_heads // n_kv_heads, 1)),
            default_scale(head_dim) if scale is None else float(scale),
            q.shape,
        )

    def ungroup(self, grouped: np.ndarray) -> np.ndarray:
        rows, n_heads, head_dim = self.shape
        return grouped.reshape(n_heads, rows, head_dim).transpose(1, 0, 2)

    @property
    def visible(self) -> np.ndarray:
        return self.mask != -np.inf

    def weights(self) -> np.ndarray:
        scores = self.factor * (self.queries @ self.keys) + self.mask
        peak = scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores - np.where(peak == -np.inf, 0, peak))
        total = weights.sum(axis=-1, keepdims=True)
        return weights / np.where(total == 0, 1, total)

    def largest(self, scores: np.ndarray) -> np.ndarray:
        return np.where(self.visible, scores, 0).max(axis=-1, keepdims=True)

    def fp32_bound(self, weights: np.ndarray) -> np.ndarray:
        finite_mask = np.where(self.visible, abs(self.mask), 0)
        parts = abs(self.factor) * (abs(self.queries) @ abs(self.keys)) + finite_mask
        keys = self.visible.sum(axis=-1, keepdims=True)
        steps = 8 * self.largest(parts) + 8 * np.sqrt(keys) + 64
        return _UNIT_ROUNDOFF * steps * (weights @ abs(self.values)) + _SMALLEST_NORMAL

    def f16_bound(self, weights: np.ndarray) -> np.ndarray:
        spread = abs(self.factor) * np.sqrt(np.square(self.queries) @ np.square(self.keys))
        rounding = 2 * _F16_ROUNDOFF * (1 + self.largest(spread)) * (weights @ abs(self.values))
        keys = self.visible.sum(axis=-1, keepdims=True)
        lost = keys * _SMALLEST_F16_WEIGHT * abs(self.values).max(axis=1, keepdims=True)
        return rounding + lost


def compare(actual: np.ndarray, reference: Reference) -> Accuracy:
    """Measure a kernel's output, f32 of the reference's shape, against its reference."""
    expected = reference.output
    if actual.shape != expected.shape:
        raise ValueError(f"the output has shape {actual.shape}, its reference {expected.shape}")
    error = _absolute_error(actual.astype(np.float64), expected)
    ratio = np.divide(error, reference.bound, out=np.zeros_like(error), where=error > 0)
    return Accuracy(
        nmse=_relative_square(error.ravel(), expected.ravel()),
        row_nmse=max(map(_relative_square, _heads(error), _heads(expected))),
        ratio=float(np.where(np.isnan(ratio), np.inf, ratio).max()),
        limits=reference.limits,
    )


def _heads(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1, array.shape[-1])


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
