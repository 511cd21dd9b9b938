"""The stages of a dispatch on its way: packed, bound, encoded, committed, waited for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

from flashmetal._twin import Twin
from flashmetal.bench.dispatch.decoding import Decoding
from flashmetal.bench.queues import Queue
from flashmetal.bench.queues.ours import MODES, Noop
from flashmetal.bench.timing import Case, warm

__all__ = ["OURS", "STAGES", "TWIN", "cases"]

OURS, TWIN = "flashmetal", "C twin"
ENCODES = 1000

# The cases of other files that are stages, by stage and what takes it.
STAGES: Mapping[str, Mapping[str, str]] = {
    "pack": {
        OURS: "set seq_len + pack_into, 8 words",
        "struct": "Struct.pack_into, 8 words",
        "ctypes": "ctypes.Structure, 8 words",
    },
    "bind": {OURS: "DecodePlan.encode, other caches", TWIN: "C twin, per dispatch"},
    "encode": {
        OURS: "DecodePlan.encode",
        TWIN: "C twin, the same caches",
        "ctypes": "ctypes",
        "cffi": "cffi",
        "pybind11": "pybind11",
        "nanobind": "nanobind",
    },
}


def cases(
    decoding: Decoding, noop: Noop, peers: Sequence[Queue]
) -> tuple[dict[str, Case], dict[str, dict[str, str]]]:
    """Give the cases of this file by name, and the names by stage and what takes it."""
    given = {"C twin, the same caches": Case(_twin_encode(decoding))}
    stages: dict[str, dict[str, str]] = {name: dict(taken) for name, taken in STAGES.items()}
    for mode in MODES:
        parts = {"commit": 1, "wait": 2} if mode == MODES[0] else {"wait": 2}
        for stage, part in parts.items():
            title = stage if stage == "commit" else f"{stage}, {mode}"
            stages[title] = {OURS: f"{title}: {OURS}", TWIN: f"{title}: {TWIN}"}
            given[stages[title][OURS]] = _ours(noop, mode, part)
            given[stages[title][TWIN]] = _twin(noop, mode, part)
    for mode in MODES:
        title = f"round trip, {mode}"
        stages[title] = {OURS: f"{title}: {OURS}", TWIN: f"{title}: {TWIN}"}
        given[stages[title][OURS]] = _ours(noop, mode, None)
        given[stages[title][TWIN]] = _twin(noop, mode, None)
        for queue in peers:
            name = f"round trip: {queue.name}"
            stages[title][queue.name] = name
            given[name] = _peer(queue)
    return given, stages


def _twin_encode(decoding: Decoding) -> Callable[[], list[float]]:
    twin = Twin(decoding.plans[:1])

    def take_turn() -> list[float]:
        encoder = decoding.begun_encoder()
        nanoseconds = twin.encode(encoder, 100, 0, ENCODES)
        encoder.discard()
        return [nanoseconds * 1e-9 / ENCODES]

    return take_turn


def _ours(noop: Noop, mode: str, part: int | None) -> Case:
    """Time a part of round trips, or, without one, all of them."""
    device, plan = noop.device, noop.plan

    def read() -> float:
        start = perf_counter()
        encoder = device.encoder()
        plan.encode(encoder)
        encoded = perf_counter()
        encoder.commit()
        committed = perf_counter()
        encoder.wait(None, mode)
        end = perf_counter()
        parts = encoded - start, committed - encoded, end - committed
        return sum(parts) if part is None else parts[part]

    return Case(warm(read))


def _twin(noop: Noop, mode: str, part: int | None) -> Case:
    def read() -> float:
        parts = noop.twin.stages(mode == "spin")
        return (sum(parts) if part is None else parts[part]) * 1e-9

    return Case(warm(read))


def _peer(queue: Queue) -> Case:
    def read() -> float:
        start = perf_counter()
        queue.wait(queue.submit(1))
        return perf_counter() - start

    return Case(warm(read))
