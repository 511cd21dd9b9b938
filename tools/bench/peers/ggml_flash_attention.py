"""ggml, through ggml-py or ggml-python: ggml_flash_attn_ext."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import ggml
import numpy as np
from ggml.utils import to_numpy

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import head_major
from flashmetal.problems import DecodeProblem

__all__ = ["decode_calls"]

_TYPES = {"f16": ggml.GGML_TYPE_F16, "f32": ggml.GGML_TYPE_F32}
_NUMPY = {"f16": np.float16, "f32": np.float32}
# Of the graph and the tensors' heads, and of what a computation needs beside them.
_SPARE_BYTES = 64 << 20

# The library takes a parameter more than the bindings declare: a cap of the scores, 0 for none.
_DECLARED = 7
if len(ggml.ggml_flash_attn_ext.argtypes) == _DECLARED:
    ggml.ggml_flash_attn_ext.argtypes = [*ggml.ggml_flash_attn_ext.argtypes, ctypes.c_float]


class _Attention:
    def __init__(self, problem: DecodeProblem, scale: float, dtype: str, threads: int) -> None:
        n_heads, n_kv_heads, head_dim, seq_len = problem.shape
        cache_bytes = 2 * problem.k.size * np.dtype(_NUMPY[dtype]).itemsize
        parameters = ggml.ggml_init_params(
            mem_size=cache_bytes + problem.q.nbytes * 8 + _SPARE_BYTES, mem_buffer=None
        )
        self.context = ggml.ggml_init(parameters)
        self.threads = threads
        sizes = head_dim, seq_len, n_kv_heads, 1
        q = ggml.ggml_new_tensor_4d(self.context, _TYPES["f32"], head_dim, 1, n_heads, 1)
        k, v = (ggml.ggml_new_tensor_4d(self.context, _TYPES[dtype], *sizes) for _ in range(2))
        to_numpy(q)[...] = problem.q[None, :, None].reshape(to_numpy(q).shape)
        for tensor, rows in ((k, problem.k), (v, problem.v)):
            to_numpy(tensor)[...] = head_major(rows, _NUMPY[dtype]).reshape(to_numpy(tensor).shape)
        self.out = ggml.ggml_flash_attn_ext(self.context, q, k, v, None, scale, 0.0, 0.0)
        self.graph = ggml.ggml_new_graph(self.context)
        ggml.ggml_build_forward_expand(self.graph, self.out)

    def __del__(self) -> None:
        ggml.ggml_free(self.context)

    def run(self) -> None:
        ggml.ggml_graph_compute_with_ctx(self.context, self.graph, self.threads)

    def result(self) -> np.ndarray:
        return np.array(to_numpy(self.out)).reshape(-1, to_numpy(self.out).shape[-1])


def decode_calls(problem: DecodeProblem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in f16 and f32; q is f32."""
    for dtype in _TYPES:
        attention = _Attention(problem, scale, dtype, threads)
        yield Call("ggml flash", dtype, attention.run, attention.result)
