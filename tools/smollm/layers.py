"""The element-wise parts of a Llama layer, in f32."""

from __future__ import annotations

import numpy as np


def rms_norm(x: np.ndarray, weight: np.ndarray, epsilon: float) -> np.ndarray:
    """Divide rows of x ``[..., n]`` by their root mean square and multiply by `weight` ``[n]``."""
    mean_square = np.mean(np.square(x), axis=-1, keepdims=True)
    return x / np.sqrt(mean_square + np.float32(epsilon)) * weight


def swiglu(gate: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Return ``gate · sigmoid(gate) · up``."""
    # tanh instead of exp: it saturates where exp(-gate) would overflow.
    half = gate * np.float32(0.5)
    return half * (1 + np.tanh(half)) * up


class RotaryEmbedding:
    """Rotates queries and keys by their position.

    GGUF files of this architecture store the rows of the q and k projections so that the two
    numbers which turn together are neighbours: pair i of a head is ``(x[2i], x[2i + 1])``.

    Parameters
    ----------
    head_dim
        Width of a head; even.
    theta
        Base of the wavelengths: pair i turns by ``position · theta^(-2i / head_dim)`` radians.
    positions
        Number of positions to prepare.
    """

    def __init__(self, head_dim: int, theta: float, positions: int) -> None:
        frequencies = theta ** (-np.arange(0, head_dim, 2) / head_dim)
        # f64 angles: an f32 one of a few thousand radians is off by 1e-4.
        angles = np.arange(positions)[:, None] * frequencies
        self._cos = np.cos(angles).astype(np.float32)[:, None, :]
        self._sin = np.sin(angles).astype(np.float32)[:, None, :]

    def rotate(self, x: np.ndarray, start: int) -> np.ndarray:
        """Return x ``[rows, heads, head_dim]`` rotated for positions ``start, start + 1, …``."""
        rows = slice(start, start + len(x))
        cos, sin = self._cos[rows], self._sin[rows]
        even, odd = x[..., 0::2], x[..., 1::2]
        rotated = np.empty_like(x)
        rotated[..., 0::2] = even * cos - odd * sin
        rotated[..., 1::2] = even * sin + odd * cos
        return rotated
