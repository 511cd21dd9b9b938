"""Encoding a step of 32 plans in a new command buffer, beside the C twin; per dispatch."""

from __future__ import annotations

from time import perf_counter

from flashmetal._twin import Twin
from flashmetal.bench.dispatch.decoding import LAYERS, Decoding
from flashmetal.bench.timing import Case, warm

__all__ = ["cases"]


def cases(decoding: Decoding) -> dict[str, Case]:
    """Give the cases."""
    step, twin = decoding.step, Twin(decoding.plans)

    def by_step() -> float:
        encoder = decoding.begun_encoder()
        start = perf_counter()
        step.encode(encoder, 100)
        taken = perf_counter() - start
        encoder.discard()
        return taken / LAYERS

    def by_twin() -> float:
        encoder = decoding.begun_encoder()
        nanoseconds = twin.encode(encoder, 100, 0, 1)
        encoder.discard()
        return nanoseconds * 1e-9 / LAYERS

    # Both read the clock around one step: there is no loop to take off.
    return {
        "DecodeStep.encode, per dispatch": Case(warm(by_step)),
        "C twin, per dispatch": Case(warm(by_twin)),
    }
