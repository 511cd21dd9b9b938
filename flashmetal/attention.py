"""Attention of NumPy arrays in one call."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._device import Device
from ._params import FlashAttentionParams
from ._pool import BufferPool
from ._registry import KernelRegistry
from .dtype import numpy_dtype
from .errors import InvalidArgument, UnsupportedDtype, UnsupportedFeature
from .ops.flash_attention import MAX_HEAD_DIM, encode_attention, register, supports_head_dim

__all__ = ["attention"]

OP = "attention"
SERVED = (
    "this version has one query row without a mask, at a head_dim that is a multiple of 4 up to "
    f"{MAX_HEAD_DIM}"
)


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    mask: ArrayLike | None = None,
    causal: bool = False,
    scale: float | None = None,
    device: Device | None = None,
) -> NDArray[np.float32]:
    """Compute softmax(scale · q·kᵀ)·v on the device.

    The arrays may have any layout: they are copied into buffers that are kept for the next call.

    Parameters
    ----------
    q
        float32 ``[n_heads, head_dim]``, or ``[1, n_heads, head_dim]``.
    k, v
        float16 ``[n, n_kv_heads, head_dim]``; n_kv_heads divides n_heads. n may be 0.
    mask
        None: this version takes no mask.
    causal
        Lets the last query row see all keys and each earlier one a key less: of one row, all.
    scale
        Factor of q·k; 1/√head_dim when None.
    device
        Where to compute; the process's default device when None.

    Returns
    -------
    numpy.ndarray
        float32, shaped as `q`. Zeros when there is no key.

    Raises
    ------
    UnsupportedDtype
        When an array has another dtype; the text names the conversion.
    InvalidArgument
        When the shapes do not fit together.
    UnsupportedFeature
        When no kernel of this version serves the call: several rows, a mask, another head_dim.
    """
    q_array = _as_array("q", q, "f32")
    k_array = _as_array("k", k, "f16")
    v_array = _as_array("v", v, "f16")
    _check_shapes(q_array, k_array, v_array)
    _check_served(q_array, mask)
    seq_len, n_kv_heads, head_dim = k_array.shape
    token = q_array.reshape(-1, head_dim)
    params = FlashAttentionParams(
        n_heads=len(token),
        n_kv_heads=n_kv_heads,
        head_dim=head_dim,
        seq_len=seq_len,
        scale=scale,
    )
    if seq_len == 0:
        return np.zeros(q_array.shape, np.float32)
    out = _context(device).run(token, k_array, v_array, params)
    return out.reshape(q_array.shape)


def _as_array(name: str, value: ArrayLike, dtype: str) -> NDArray:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidArgument(f"{OP}: {name} must be an array: {error}") from error
    wanted = numpy_dtype(dtype)
    if array.dtype != wanted:
        raise UnsupportedDtype(
            array.dtype.str if not array.dtype.isnative else array.dtype.name,
            f"{OP}: {name} must be {wanted.name}, which {name}.astype({wanted.name!r}) makes",
        )
    return array


def _check_shapes(q: NDArray, k: NDArray, v: NDArray) -> None:
    if q.ndim not in (2, 3):
        raise InvalidArgument(
            f"{OP}: q must be [n_heads, head_dim] or [rows, n_heads, head_dim], got {q.shape}"
        )
    if k.ndim != 3:
        raise InvalidArgument(f"{OP}: k must be [n, n_kv_heads, head_dim], got {k.shape}")
    if v.shape != k.shape:
        raise InvalidArgument(f"{OP}: v must have k's shape {k.shape}, got {v.shape}")
    n_heads, head_dim = q.shape[-2:]
    n_kv_heads, k_head_dim = k.shape[1:]
    if k_head_dim != head_dim:
        raise InvalidArgument(f"{OP}: head_dim is {head_dim} in q and {k_head_dim} in k")
    if 0 in (n_heads, n_kv_heads, head_dim):
        raise InvalidArgument(f"{OP}: empty shape: q {q.shape}, k {k.shape}")
    if n_heads % n_kv_heads:
        raise InvalidArgument(
            f"{OP}: n_heads {n_heads} is not a multiple of n_kv_heads {n_kv_heads}"
        )


def _check_served(q: NDArray, mask: ArrayLike | None) -> None:
    if q.ndim == 3 and q.shape[0] != 1:
        raise UnsupportedFeature(f"{OP}: {q.shape[0]} query rows: {SERVED}")
    if mask is not None:
        raise UnsupportedFeature(f"{OP}: a mask: {SERVED}")
    if not supports_head_dim(q.shape[-1]):
        raise UnsupportedFeature(f"{OP}: head_dim {q.shape[-1]}: {SERVED}")


class _Context:
    """What calls on one device share."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._pool = BufferPool(device)
        self._registry = KernelRegistry(device)
        register(self._registry)

    def run(
        self, q: NDArray, k: NDArray, v: NDArray, params: FlashAttentionParams
    ) -> NDArray[np.float32]:
        """Copy in, compute, copy out."""
        with self._pool.lend() as take:
            inputs = take(q.shape, "f32"), take(k.shape, "f16"), take(v.shape, "f16")
            for buffer, array in zip(inputs, (q, k, v), strict=True):
                np.asarray(buffer)[...] = array
            out = take(q.shape, "f32")
            encoder = self._device.encoder(OP)
            encode_attention(encoder, self._registry, *inputs, out, params)
            encoder.commit_and_wait()
            return np.array(out)


# By the device that was asked for, None for the default; they live as long as the process.
_contexts: dict[Device | None, _Context] = {}
_contexts_lock = threading.Lock()


def _context(device: Device | None) -> _Context:
    context = _contexts.get(device)
    if context is None:
        with _contexts_lock:
            if device not in _contexts:
                _contexts[device] = _Context(Device() if device is None else device)
            context = _contexts[device]
    return context
