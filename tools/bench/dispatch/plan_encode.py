"""Encoding one dispatch: by plan, and by the call that checks everything."""

from __future__ import annotations

from itertools import repeat
from time import perf_counter_ns

from decoding import Decoding
from timing import Case

from flashmetal.ops.flash_attention import encode_attention

__all__ = ["cases"]

CALLS = 1000


def cases(decoding: Decoding) -> dict[str, Case]:
    """Give the cases."""
    plan = decoding.plans[0]
    registry, q, out, params = decoding.registry, decoding.q, decoding.out, decoding.params
    k, v = decoding.caches[0]

    def by_plan() -> float:
        encoder = decoding.begun_encoder()
        start = perf_counter_ns()
        for _ in repeat(None, CALLS):
            plan.encode(encoder, 100)
        taken = perf_counter_ns() - start
        encoder.discard()
        return taken / CALLS

    def checked() -> float:
        encoder = decoding.begun_encoder()
        start = perf_counter_ns()
        for _ in repeat(None, CALLS):
            encode_attention(encoder, registry, q, k, v, out, params)
        taken = perf_counter_ns() - start
        encoder.discard()
        return taken / CALLS

    return {"DecodePlan.encode": Case(by_plan), "encode_attention": Case(checked)}
