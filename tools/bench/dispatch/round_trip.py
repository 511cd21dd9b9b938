"""A command buffer from its encoder to its end, when the threads that execute it are asleep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter, sleep

from flashmetal.bench.queues import Queue
from flashmetal.bench.queues.ours import MODES, Noop
from flashmetal.bench.timing import Case

__all__ = ["cases"]

CALLS = 5
# Threads that look for work before they fall asleep do so for less.
ASLEEP_SECONDS = 1e-3


def cases(noop: Noop, peers: Sequence[Queue]) -> dict[str, Case]:
    """Give the cases."""
    given = {f"empty command buffer, {mode}": Case(_asleep(_empty(noop, mode))) for mode in MODES}
    for queue in peers:
        if queue.name == "pocl":
            given["PoCL enqueue + finish"] = Case(_asleep(queue.enqueue_and_finish))
    return given


def _empty(noop: Noop, mode: str) -> Callable[[], object]:
    device = noop.device

    def run() -> None:
        device.encoder().commit_and_wait(None, mode)

    return run


def _asleep(run: Callable[[], object]) -> Callable[[], list[float]]:
    def take_turn() -> list[float]:
        taken = []
        for _ in range(CALLS):
            sleep(ASLEEP_SECONDS)
            start = perf_counter()
            run()
            taken.append(perf_counter() - start)
        return taken

    return take_turn
