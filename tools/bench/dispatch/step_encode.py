"""Encoding a step of 32 plans in a new command buffer, beside the C twin; per dispatch."""

from __future__ import annotations

from time import perf_counter_ns

from decoding import LAYERS, Decoding
from timing import Case

from flashmetal._twin import Twin

__all__ = ["cases"]


def cases(decoding: Decoding) -> dict[str, Case]:
    """Give the cases."""
    step, twin = decoding.step, Twin(decoding.plans)

    def by_step() -> float:
        encoder = decoding.begun_encoder()
        start = perf_counter_ns()
        step.encode(encoder, 100)
        taken = perf_counter_ns() - start
        encoder.discard()
        return taken / LAYERS

    def by_twin() -> float:
        encoder = decoding.begun_encoder()
        taken = twin.encode(encoder, 100, 0, 1)
        encoder.discard()
        return taken / LAYERS

    # Both read the clock around one step: there is no loop to take off.
    return {
        "DecodeStep.encode, per dispatch": Case(by_step, is_timed_in_python=False),
        "C twin, per dispatch": Case(by_twin, is_timed_in_python=False),
    }
