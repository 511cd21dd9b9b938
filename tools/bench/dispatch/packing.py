"""Packing of parameter structs: a field set and the struct written, beside struct.pack_into."""

from __future__ import annotations

import ctypes
import struct
from itertools import repeat
from time import perf_counter

from flashmetal.bench.dispatch.decoding import Decoding
from flashmetal.bench.timing import Case, warm
from flashmetal.ops.flash_attn_prefill_tensor import FlashAttnPrefillTensorParams

__all__ = ["cases"]

CALLS = 1000


class _Words(ctypes.Structure):
    _fields_ = tuple((f"word{index}", ctypes.c_uint32) for index in range(8))


def cases(decoding: Decoding) -> dict[str, Case]:
    """Give the cases."""
    target = bytearray(64)
    params = decoding.params
    prefill = FlashAttnPrefillTensorParams(32, 8, 2, 256, 64, 2048, 256, 512, 256, 512, 256)
    words = _Words()
    eight, twelve = struct.Struct("<8I"), struct.Struct("<11if")

    def set_and_pack() -> float:
        start = perf_counter()
        for _ in repeat(None, CALLS):
            params.seq_len = 100
            params.pack_into(target)
        return (perf_counter() - start) / CALLS

    def pack_prefill() -> float:
        start = perf_counter()
        for _ in repeat(None, CALLS):
            prefill.pack_into(target)
        return (perf_counter() - start) / CALLS

    def struct_eight() -> float:
        start = perf_counter()
        for _ in repeat(None, CALLS):
            eight.pack_into(target, 0, 9, 3, 64, 192, 100, 1, 0, 0)
        return (perf_counter() - start) / CALLS

    def struct_twelve() -> float:
        start = perf_counter()
        for _ in repeat(None, CALLS):
            twelve.pack_into(target, 0, 32, 8, 2, 64, 2048, 256, 512, 256, 512, 256, 64, 1.0)
        return (perf_counter() - start) / CALLS

    def structure_eight() -> float:
        start = perf_counter()
        for _ in repeat(None, CALLS):
            words.__init__(9, 3, 64, 192, 100, 1, 0, 0)
        return (perf_counter() - start) / CALLS

    return {
        "set seq_len + pack_into, 8 words": Case(warm(set_and_pack), loops_in_python=True),
        "Struct.pack_into, 8 words": Case(warm(struct_eight), loops_in_python=True),
        "ctypes.Structure, 8 words": Case(warm(structure_eight), loops_in_python=True),
        "pack_into, 12 words": Case(warm(pack_prefill), loops_in_python=True),
        "Struct.pack_into, 12 words": Case(warm(struct_twelve), loops_in_python=True),
    }
