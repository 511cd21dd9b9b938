"""ggml, through ggml-py or ggml-python: ggml_flash_attn_ext."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import ggml
import numpy as np
from ggml.utils import to_numpy

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import Problem, head_major, mask_of, queries_of

__all__ = ["attention_calls"]

_TYPES = {"f16": ggml.GGML_TYPE_F16, "f32": ggml.GGML_TYPE_F32}
_NUMPY = {"f16": np.float16, "f32": np.float32}
# Of the graph and the tensors' heads, and of what a computation needs beside them.
_SPARE_BYTES = 64 << 20

# It wants the rows of a mask in multiples of this.
_MASK_ROWS = 64

# The library takes a parameter more than the bindings declare: a cap of the scores, 0 for none.
_DECLARED = 7
if len(ggml.ggml_flash_attn_ext.argtypes) == _DECLARED:
    ggml.ggml_flash_attn_ext.argtypes = [*ggml.ggml_flash_attn_ext.argtypes, ctypes.c_float]


class _Attention:
    def __init__(self, problem: Problem, scale: float, dtype: str, threads: int) -> None:
        rows, n_heads, head_dim = queries_of(problem).shape
        seq_len, n_kv_heads, _ = problem.k.shape
        self.shape = problem.q.shape
        mask = mask_of(problem)
        cache_bytes = 2 * problem.k.size * np.dtype(_NUMPY[dtype]).itemsize
        parameters = ggml.ggml_init_params(
            mem_size=cache_bytes
            + problem.q.nbytes * 8
            + (0 if mask is None else 2 * mask.nbytes)
            + _SPARE_BYTES,
            mem_buffer=None,
        )
        self.context = ggml.ggml_init(parameters)
        self.threads = threads
        sizes = head_dim, seq_len, n_kv_heads, 1
        q = ggml.ggml_new_tensor_4d(self.context, _TYPES["f32"], head_dim, rows, n_heads, 1)
        k, v = (ggml.ggml_new_tensor_4d(self.context, _TYPES[dtype], *sizes) for _ in range(2))
        for tensor, array, numpy_dtype in (
            (q, queries_of(problem), np.float32),
            (k, problem.k, _NUMPY[dtype]),
            (v, problem.v, _NUMPY[dtype]),
        ):
            to_numpy(tensor)[...] = head_major(array, numpy_dtype).reshape(to_numpy(tensor).shape)
        bias = None if mask is None else self._mask(mask)
        self.out = ggml.ggml_flash_attn_ext(self.context, q, k, v, bias, scale, 0.0, 0.0)
        self.graph = ggml.ggml_new_graph(self.context)
        ggml.ggml_build_forward_expand(self.graph, self.out)

    def _mask(self, mask: np.ndarray) -> object:
        rows, keys = mask.shape
        padded = -(-rows // _MASK_ROWS) * _MASK_ROWS
        tensor = ggml.ggml_new_tensor_4d(self.context, ggml.GGML_TYPE_F16, keys, padded, 1, 1)
        cells = to_numpy(tensor).reshape(padded, keys)
        cells[:rows] = mask
        cells[rows:] = 0
        return tensor

    def __del__(self) -> None:
        ggml.ggml_free(self.context)

    def run(self) -> None:
        ggml.ggml_graph_compute_with_ctx(self.context, self.graph, self.threads)

    def result(self) -> np.ndarray:
        return np.array(to_numpy(self.out)).reshape(self.shape)


def attention_calls(problem: Problem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in f16 and f32; q is f32."""
    for dtype in _TYPES:
        attention = _Attention(problem, scale, dtype, threads)
        yield Call("ggml flash", dtype, attention.run, attention.result)
