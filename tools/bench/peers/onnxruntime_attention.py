"""ONNX Runtime on the CPU: matrix products for each group of query heads, as one graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import grouped_queries, head_major
from flashmetal.problems import DecodeProblem

__all__ = ["decode_calls"]

_OPSET = 17
_IR_VERSION = 8


def _model() -> bytes:
    """Build softmax(q·kᵀ)·v, with kᵀ as it is stored."""
    nodes = [
        helper.make_node("MatMul", ["q", "k"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "v"], ["out"]),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (
            ("q", ["kv_heads", "group", "dim"]),
            ("k", ["kv_heads", "dim", "rows"]),
            ("v", ["kv_heads", "rows", "dim"]),
        )
    ]
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["kv_heads", "group", "dim"])
    graph = helper.make_graph(nodes, "attention", inputs, [output])
    opset = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=_IR_VERSION)
    return model.SerializeToString()


class _Attention:
    def __init__(self, problem: DecodeProblem, scale: float, threads: int) -> None:
        self.shape = problem.q.shape
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            _model(), options, providers=["CPUExecutionProvider"]
        )
        k = head_major(problem.k, np.float32).transpose(0, 2, 1)
        self.binding = self.session.io_binding()
        self.arrays = {
            "q": grouped_queries(problem) * np.float32(scale),
            "k": np.ascontiguousarray(k),
            "v": head_major(problem.v, np.float32),
        }
        for name, array in self.arrays.items():
            self.binding.bind_cpu_input(name, array)
        self.binding.bind_output("out")

    def run(self) -> None:
        self.session.run_with_iobinding(self.binding)

    def result(self) -> np.ndarray:
        return self.binding.copy_outputs_to_cpu()[0].reshape(self.shape)


def decode_calls(problem: DecodeProblem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in f32."""
    attention = _Attention(problem, scale, threads)
    yield Call("onnxruntime", "f32", attention.run, attention.result)
