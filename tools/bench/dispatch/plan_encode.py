"""Encoding one dispatch: by plan, its caches set or not, and by the call that checks everything."""

from __future__ import annotations

from itertools import repeat
from time import perf_counter

from flashmetal.bench.dispatch.decoding import Decoding
from flashmetal.bench.timing import Case, warm
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
        start = perf_counter()
        for _ in repeat(None, CALLS):
            plan.encode(encoder, 100)
        taken = perf_counter() - start
        encoder.discard()
        return taken / CALLS

    def by_other_plans() -> float:
        encoder = decoding.begun_encoder()
        start = perf_counter()
        for other in decoding.plans:
            other.encode(encoder, 100)
        taken = perf_counter() - start
        encoder.discard()
        return taken / len(decoding.plans)

    def checked() -> float:
        encoder = decoding.begun_encoder()
        start = perf_counter()
        for _ in repeat(None, CALLS):
            encode_attention(encoder, registry, q, k, v, out, params)
        taken = perf_counter() - start
        encoder.discard()
        return taken / CALLS

    return {
        "DecodePlan.encode": Case(warm(by_plan), loops_in_python=True),
        "DecodePlan.encode, other caches": Case(warm(by_other_plans), loops_in_python=True),
        "encode_attention": Case(warm(checked), loops_in_python=True),
    }
