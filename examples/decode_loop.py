"""A small language model decodes on the device: its own kernels and ours in one command buffer.

python examples/decode_loop.py [TOKENS]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import flashmetal as fm
from flashmetal.ops import flash_attention

LAYERS, HEADS, KV_HEADS, HEAD_DIM = 4, 8, 2, 32
WIDTH, VOCABULARY, CAPACITY = HEADS * HEAD_DIM, 512, 1024
KV_WIDTH = KV_HEADS * HEAD_DIM
THREADS = 64  # of a threadgroup

KERNELS = """
#include <metal_stdlib>
using namespace metal;

constant uint width [[function_constant(0)]];
constant uint kv_width [[function_constant(1)]];

// One thread for each row of the matrix.
static float product(device const float *matrix, device const float *x, uint row) {
    float sum = 0;
    for (uint i = 0; i < width; i++) sum += matrix[row * width + i] * x[i];
    return sum;
}

// Queries for attention; keys and values straight into the caches, at this token's position.
kernel void project(device const float *x [[buffer(0)]], device const float *matrix [[buffer(1)]],
                    constant uint &position [[buffer(2)]], device float *q [[buffer(3)]],
                    device half *k_cache [[buffer(4)]], device half *v_cache [[buffer(5)]],
                    uint row [[thread_position_in_grid]]) {
    float value = product(matrix, x, row);
    uint start = position * kv_width;
    if (row < width) q[row] = value;
    else if (row < width + kv_width) k_cache[start + row - width] = half(value);
    else v_cache[start + row - width - kv_width] = half(value);
}

kernel void add_output(device const float *attended [[buffer(0)]],
                       device const float *matrix [[buffer(1)]], device float *x [[buffer(2)]],
                       uint row [[thread_position_in_grid]]) {
    x[row] += product(matrix, attended, row);
}

kernel void score(device const float *x [[buffer(0)]], device const float *matrix [[buffer(1)]],
                  device float *scores [[buffer(2)]], uint row [[thread_position_in_grid]]) {
    scores[row] = product(matrix, x, row);
}
"""


def random_weights(seed: int = 0) -> dict[str, np.ndarray]:
    """Make weights, f32: a model that says nothing, but always the same."""
    random = np.random.default_rng(seed)

    def matrix(*shape: int) -> np.ndarray:
        return random.standard_normal(shape, "f4") / np.float32(WIDTH**0.5)

    return {
        "projections": matrix(LAYERS, WIDTH + 2 * KV_WIDTH, WIDTH),
        "outputs": matrix(LAYERS, WIDTH, WIDTH),
        "embedding": matrix(VOCABULARY, WIDTH),
        "scores": matrix(VOCABULARY, WIDTH),
    }


class Decoder:
    """The model on a device: everything is made once, and a token is one call and one wait."""

    def __init__(self, device: fm.Device, weights: dict[str, np.ndarray]) -> None:
        self.device = device
        self.registry = fm.KernelRegistry(device)
        flash_attention.register(self.registry)
        for name in ("project", "add_output", "score"):
            self.registry.register_source(name, KERNELS)

        self.embedding = weights["embedding"]
        self.x, self.q, self.attended = (device.alloc(WIDTH, "f32") for _ in range(3))
        self.scores = device.alloc(VOCABULARY, "f32")
        self.position = device.alloc(1, "u32")
        # Views on the same memory: what is written here is what the kernels read.
        self.x_view, self.scores_view = np.asarray(self.x), np.asarray(self.scores)
        self.position_view = np.asarray(self.position)

        entries: list[object] = []
        for layer in range(LAYERS):
            entries += self._layer(weights["projections"][layer], weights["outputs"][layer])
        score = {0: self.x, 1: self._matrix(weights["scores"]), 2: self.scores}
        self.step = fm.DecodeStep([*entries, self._plan("score", score, VOCABULARY)])

    def next_token(self, token: int, position: int) -> int:
        """Let the model see a token at a position, and choose the next."""
        self.x_view[:] = self.embedding[token]
        self.position_view[0] = position
        encoder = self.device.encoder()
        self.step.encode(encoder, position + 1)
        encoder.commit_and_wait()
        return int(self.scores_view.argmax())

    def _layer(self, projection: np.ndarray, output: np.ndarray) -> list[object]:
        cache_shape = (CAPACITY, KV_HEADS, HEAD_DIM)
        k, v = (self.device.alloc(cache_shape, "f16") for _ in range(2))
        project = {0: self.x, 1: self._matrix(projection), 2: self.position, 3: self.q, 4: k, 5: v}
        add_output = {0: self.attended, 1: self._matrix(output), 2: self.x}
        shape = {"n_heads": HEADS, "n_kv_heads": KV_HEADS, "head_dim": HEAD_DIM}
        return [
            self._plan("project", project, len(projection)),
            fm.BARRIER,
            fm.DecodePlan(self.registry, self.q, k, v, self.attended, **shape),
            fm.BARRIER,
            self._plan("add_output", add_output, WIDTH),
            fm.BARRIER,
        ]

    def _plan(self, name: str, arguments: dict[int, fm.Buffer], threads: int) -> fm.LaunchPlan:
        pipeline = self.registry.get_pipeline(name, {0: WIDTH, 1: KV_WIDTH})
        return fm.LaunchPlan(pipeline, arguments, threads, THREADS, exact_threads=True)

    def _matrix(self, matrix: np.ndarray) -> fm.Buffer:
        buffer = self.device.alloc(matrix.shape, "f32")
        np.asarray(buffer)[:] = matrix
        return buffer


def generate(decoder: Decoder, count: int, first: int = 1) -> list[int]:
    """Let the model go on from a token, likeliest next first."""
    tokens = [first]
    for position in range(count):
        tokens.append(decoder.next_token(tokens[-1], position))
    return tokens


def main() -> None:
    """Generate, and say how long a token took."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    decoder = Decoder(fm.Device(), random_weights())
    start = time.perf_counter()
    tokens = generate(decoder, count)
    microseconds = (time.perf_counter() - start) / count * 1e6
    print(*tokens)
    print(f"{microseconds:.0f} µs per token on {decoder.device.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
