"""ONNX Runtime on the CPU: matrix products for each group of query heads, as one graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from flashmetal.bench.peers import Call
from flashmetal.bench.peers.layout import (
    Problem,
    group_queries,
    head_major,
    stack_mask,
    ungroup_queries,
)

__all__ = ["attention_calls"]

_OPSET = 17
_IR_VERSION = 8


def _model(has_mask: bool) -> bytes:
    """Build softmax(q·kᵀ + mask)·v, with kᵀ as it is stored."""
    masked = [helper.make_node("Add", ["products", "mask"], ["scores"])] if has_mask else []
    nodes = [
        helper.make_node("MatMul", ["q", "k"], ["products"]),
        *masked,
        helper.make_node("Softmax", ["scores" if has_mask else "products"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "v"], ["out"]),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (
            ("q", ["kv_heads", "group", "dim"]),
            ("k", ["kv_heads", "dim", "rows"]),
            ("v", ["kv_heads", "rows", "dim"]),
            ("mask", ["group", "rows"]),
        )[: 4 if has_mask else 3]
    ]
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["kv_heads", "group", "dim"])
    graph = helper.make_graph(nodes, "attention", inputs, [output])
    opset = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=_IR_VERSION)
    return model.SerializeToString()


class _Attention:
    def __init__(self, problem: Problem, scale: float, threads: int) -> None:
        self.problem = problem
        mask = stack_mask(problem)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            _model(mask is not None), options, providers=["CPUExecutionProvider"]
        )
        k = head_major(problem.k, np.float32).transpose(0, 2, 1)
        self.binding = self.session.io_binding()
        self.arrays = {
            "q": group_queries(problem) * np.float32(scale),
            "k": np.ascontiguousarray(k),
            "v": head_major(problem.v, np.float32),
        }
        if mask is not None:
            self.arrays["mask"] = mask
        for name, array in self.arrays.items():
            self.binding.bind_cpu_input(name, array)
        self.binding.bind_output("out")

    def run(self) -> None:
        self.session.run_with_iobinding(self.binding)

    def result(self) -> np.ndarray:
        return ungroup_queries(self.binding.copy_outputs_to_cpu()[0], self.problem)


def attention_calls(problem: Problem, scale: float, threads: int) -> Iterator[Call]:
    """Give it in f32."""
    attention = _Attention(problem, scale, threads)
    yield Call("onnxruntime", "f32", attention.run, attention.result)
