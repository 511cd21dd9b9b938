"""A command buffer of one dispatch, when several are in flight: per command buffer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter

from flashmetal.bench.queues import Queue
from flashmetal.bench.queues.ours import MODES, Noop
from flashmetal.bench.timing import Case

__all__ = ["cases"]

COMMAND_BUFFERS = 32


def cases(noop: Noop, queues: Sequence[Queue], depths: Sequence[int]) -> dict[str, dict[int, Case]]:
    """Give the cases by queue and depth, the C twin's in front."""
    given = {
        f"C twin, {mode}": {depth: Case(_twin(noop, depth, mode)) for depth in depths}
        for mode in MODES
    }
    for queue in queues:
        given[queue.name] = {depth: Case(_queue(queue, depth)) for depth in depths}
    return given


def _twin(noop: Noop, depth: int, mode: str) -> Callable[[], list[float]]:
    def take_turn() -> list[float]:
        nanoseconds = noop.twin.run(1, COMMAND_BUFFERS, depth, mode == "spin")
        return [nanoseconds * 1e-9 / COMMAND_BUFFERS]

    return take_turn


def _queue(queue: Queue, depth: int) -> Callable[[], list[float]]:
    def take_turn() -> list[float]:
        in_flight: deque[object] = deque()
        start = perf_counter()
        for _ in range(COMMAND_BUFFERS):
            if len(in_flight) == depth:
                queue.wait(in_flight.popleft())
            in_flight.append(queue.submit(1))
        while in_flight:
            queue.wait(in_flight.popleft())
        return [(perf_counter() - start) / COMMAND_BUFFERS]

    return take_turn
