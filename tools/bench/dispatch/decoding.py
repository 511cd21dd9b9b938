"""What the scenarios encode: a decode step of 32 layers, each with its own cache."""

from __future__ import annotations

import flashmetal as fm
from flashmetal.ops.flash_attention import FlashAttentionParams, register

__all__ = ["LAYERS", "ROWS", "SHAPE", "Decoding"]

LAYERS = 32
SHAPE = {"n_heads": 9, "n_kv_heads": 3, "head_dim": 64}
ROWS = 4096


class Decoding:
    """Buffers, plans and a step on a device of one thread: nothing is executed while timing."""

    def __init__(self) -> None:
        self.device = fm.Device(threads=1)
        self.registry = fm.KernelRegistry(self.device)
        register(self.registry)
        heads, kv_heads, head_dim = SHAPE.values()
        self.q, self.out = (self.device.alloc((heads, head_dim), "f32") for _ in range(2))
        cache = ROWS, kv_heads, head_dim
        self.caches = [
            (self.device.alloc(cache, "f16"), self.device.alloc(cache, "f16"))
            for _ in range(LAYERS)
        ]
        self.plans = [
            fm.DecodePlan(self.registry, self.q, k, v, self.out, **SHAPE) for k, v in self.caches
        ]
        self.step = fm.DecodeStep(self.plans)
        self.params = FlashAttentionParams(seq_len=100, **SHAPE)

    def begun_encoder(self) -> fm.CommandEncoder:
        """Make an encoder whose command buffer is there, and whose first dispatch is encoded."""
        encoder = self.device.encoder()
        self.plans[-1].encode(encoder, 1)
        return encoder
