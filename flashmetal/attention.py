"""Attention of NumPy arrays in one call."""

from __future__ import annotations

import platform
import threading
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import need_kind
from ._device import Device
from ._mask import F16_MAX, Mask
from ._params import FlashAttentionParams
from ._pool import BufferPool
from ._prefill import PrefillBuffers
from ._prefill_operation import PrefillOperation
from ._registry import KernelRegistry
from .dtype import numpy_dtype
from .errors import InvalidArgument, UnsupportedDtype, UnsupportedFeature
from .ops import (
    flash_attention,
    flash_attn_prefill_blk,
    flash_attn_prefill_simdgroup,
    flash_attn_prefill_tensor,
)
from .ops.flash_attn_prefill_simdgroup import HEAD_DIM_UNIT, MAX_HEAD_DIM

__all__ = ["attention"]

OP = "attention"
TENSOR_HEAD_DIMS = flash_attn_prefill_tensor.HEAD_DIMS
FALLBACK_SERVES = (
    f"any rows and masks, at a head_dim that is a multiple of {HEAD_DIM_UNIT} up to {MAX_HEAD_DIM}"
)
SERVES = f"{FALLBACK_SERVES}, and at {max(TENSOR_HEAD_DIMS)}"


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    mask: ArrayLike | None = None,
    causal: bool = False,
    scale: float | None = None,
    device: Device | None = None,
    window: SupportsIndex | None = None,
) -> NDArray[np.float32]:
    """Compute softmax(scale · q·kᵀ + mask)·v on the device.

    The arrays may have any layout: they are copied into buffers that are kept for the next call.

    Parameters
    ----------
    q
        float32 ``[rows, n_heads, head_dim]``, or ``[n_heads, head_dim]`` of one row. head_dim is a
        multiple of 4 up to 256, or 512. |scale·q| is 65504 at most, for the kernels round it to
        half; but for one row without a mask at a head_dim up to 128, where they do not.
    k, v
        float16 ``[n, n_kv_heads, head_dim]``; n_kv_heads divides n_heads. n may be 0. Values should
        be finite: a hidden key has weight 0, but 0·NaN is NaN.
    mask
        ``[rows, n]`` or what broadcasts to it, shared by all heads. bool: true where a row sees a
        key. float16, float32 or float64: added to the scores in float16; values below −65504 become
        −inf, which hides a key.
    causal
        Lets the last query row see all keys and each earlier one a key less.
    scale
        Factor of q·k; 1/√head_dim when None.
    device
        Where to compute; the process's default device when None.
    window
        With `causal`, the most keys that a row sees, counted back from its own; all when None.

    Returns
    -------
    numpy.ndarray
        float32, shaped as `q`. Zeros where a row sees no key.

    Raises
    ------
    UnsupportedDtype
        When an array has another dtype; the text names the conversion.
    InvalidArgument
        When the shapes do not fit together, or a value does not fit the kernel's types.
    UnsupportedFeature
        When no kernel serves the call: another head_dim, or 512 on a device without Metal's tensor
        API.
    """
    if device is not None:
        need_kind(OP, "device", device, Device)
    q_array = _as_array("q", q, "f32")
    k_array = _as_array("k", k, "f16")
    v_array = _as_array("v", v, "f16")
    _check_shapes(q_array, k_array, v_array)
    head_dim = q_array.shape[-1]
    queries = q_array.reshape(-1, *q_array.shape[-2:])
    cells = Mask(OP, mask, causal, window, len(queries), len(k_array))
    factor = FlashAttentionParams(1, 1, head_dim, 0, scale).scale
    _check_served(head_dim)
    is_decode = flash_attention.supports_head_dim(head_dim) and not cells.has_cells
    is_decode = is_decode and len(queries) == 1
    if not is_decode:
        _check_range(queries, factor)
    if 0 in (len(queries), len(k_array)):
        return np.zeros(q_array.shape, np.float32)
    keys, values = k_array[cells.first_key :], v_array[cells.first_key :]
    context = _context(device)
    if is_decode:
        out = context.decode(queries[0], keys, values, factor)
    else:
        out = context.prefill(queries, keys, values, factor, cells)
    return out.reshape(q_array.shape)


def _as_array(name: str, value: ArrayLike, dtype: str) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidArgument(f"{OP}: {name} must be an array: {error}") from error
    wanted = numpy_dtype(dtype)
    if array.dtype != wanted:
        raise UnsupportedDtype(
            array.dtype.str if not array.dtype.isnative else array.dtype.name,
            f"{OP}: {name} must be {wanted.name}, which {_conversion(name, value, wanted.name)} "
            "makes",
        )
    return array


def _conversion(name: str, value: ArrayLike, dtype: str) -> str:
    # Lists have no methods of arrays.
    if isinstance(value, np.ndarray):
        return f"{name}.astype({dtype!r})"
    return f"numpy.asarray({name}, {dtype!r})"


def _check_shapes(q: NDArray[Any], k: NDArray[Any], v: NDArray[Any]) -> None:
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


def _check_served(head_dim: int) -> None:
    if head_dim in TENSOR_HEAD_DIMS or flash_attn_prefill_simdgroup.supports_head_dim(head_dim):
        return
    raise UnsupportedFeature(f"{OP}: head_dim {head_dim}: this version has {SERVES}")


def _check_range(q: NDArray[Any], scale: float) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = abs(q * np.float32(scale))
    if (scaled > F16_MAX).any():
        raise InvalidArgument(
            f"{OP}: |scale·q| reaches {np.nanmax(scaled):.9g}; at head_dim {q.shape[-1]} the "
            f"kernel keeps it in half, up to {F16_MAX:g}: pass a smaller scale or smaller queries"
        )


class _Context:
    """What calls on one device share."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._pool = BufferPool(device)
        self._registry = KernelRegistry(device)
        for operation in (
            flash_attention,
            flash_attn_prefill_blk,
            flash_attn_prefill_simdgroup,
            flash_attn_prefill_tensor,
        ):
            operation.register(self._registry)

    def decode(
        self, q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], scale: float
    ) -> NDArray[np.float32]:
        """Attend with one row: ``[n_heads, head_dim]``."""
        seq_len, n_kv_heads, head_dim = k.shape
        params = FlashAttentionParams(
            n_heads=len(q), n_kv_heads=n_kv_heads, head_dim=head_dim, seq_len=seq_len, scale=scale
        )
        with self._pool.lend() as take:
            inputs = take(q.shape, "f32"), take(k.shape, "f16"), take(v.shape, "f16")
            for buffer, array in zip(inputs, (q, k, v), strict=True):
                np.asarray(buffer)[...] = array
            out = take(q.shape, "f32")
            encoder = self._device.encoder(OP)
            flash_attention.encode_attention(encoder, self._registry, *inputs, out, params)
            encoder.commit_and_wait()
            return np.array(out)

    def prefill(
        self, q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], scale: float, mask: Mask
    ) -> NDArray[np.float32]:
        """Attend with any number of rows: ``[rows, n_heads, head_dim]``."""
        operation = self._prefill_operation(q.shape[-1])
        with self._pool.lend() as take:
            buffers = PrefillBuffers.fill(operation, take, q, k, v, mask.fill)
            encoder = self._device.encoder(OP)
            buffers.encode(encoder, self._registry, scale)
            encoder.commit_and_wait()
            return np.array(buffers.out)

    def _prefill_operation(self, head_dim: int) -> PrefillOperation:
        """Choose the tensor kernels where they are, the fallback elsewhere."""
        device = self._device
        if head_dim in TENSOR_HEAD_DIMS and (
            flash_attn_prefill_tensor.flash_attn_prefill_tensor_available(
                self._registry, device, head_dim
            )
        ):
            return flash_attn_prefill_tensor.OPERATION
        if flash_attn_prefill_simdgroup.supports_head_dim(head_dim):
            return flash_attn_prefill_simdgroup.OPERATION
        raise UnsupportedFeature(
            f"{OP}: head_dim {head_dim} needs Metal's tensor API (<metal_tensor>, language version "
            "4.0, macOS 26), which {} on {} lacks: it has language version {}.{}; alternatives: a "
            "newer system, host Metal (the default on Linux), or what it has: {}".format(
                device.name,
                platform.platform(terse=True),
                *device.language_version,
                FALLBACK_SERVES,
            )
        )


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
