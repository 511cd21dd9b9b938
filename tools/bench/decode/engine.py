"""Our engine's decode attention over a problem's own arrays."""

from __future__ import annotations

import numpy as np

import flashmetal as fm
from flashmetal import _host
from flashmetal.bench.peers import Call
from flashmetal.ops.flash_attention import register
from flashmetal.problems import DecodeProblem

__all__ = ["Engine"]


class Engine:
    """A plan over a problem's arrays, which are wrapped.

    Parameters
    ----------
    problem
        Keeps its memory.
    threads
        Of host Metal.

    Raises
    ------
    InvalidArgument
        Decode attention does not serve the shape.
    """

    def __init__(self, problem: DecodeProblem, threads: int) -> None:
        # What is compared is the native engine; Apple's Metal has none.
        choice = {"engine": "native", "threads": threads} if _host.available() else {}
        self.device = fm.Device(**choice)
        registry = fm.KernelRegistry(self.device)
        register(registry)
        shape = problem.shape
        self.seq_len = shape.seq_len
        self.out = np.empty_like(problem.q)
        self.plan = fm.DecodePlan(
            registry,
            *map(self.device.wrap, (problem.q, problem.k, problem.v, self.out)),
            n_heads=shape.n_heads,
            n_kv_heads=shape.n_kv_heads,
            head_dim=shape.head_dim,
        )

    def run(self) -> None:
        """Encode, commit and wait."""
        encoder = self.device.encoder()
        self.plan.encode(encoder, self.seq_len)
        encoder.commit_and_wait()

    def result(self) -> np.ndarray:
        """Give the last run's output, ``[n_heads, head_dim]``."""
        return self.out

    def call(self, name: str) -> Call:
        """Give it as one of the ways to compute the problem; it has run once."""
        self.run()
        return Call(name, "f16", self.run, self.result)
