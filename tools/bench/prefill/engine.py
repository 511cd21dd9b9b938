"""Our engine's prefill attention."""

from __future__ import annotations

import numpy as np

import flashmetal as fm
from flashmetal import _host
from flashmetal._prefill import PrefillBuffers
from flashmetal.bench.peers import Call
from flashmetal.ops import (
    flash_attn_prefill_blk,
    flash_attn_prefill_simdgroup,
    flash_attn_prefill_tensor,
)
from flashmetal.prefill_problems import PrefillProblem

__all__ = ["Engine"]


class Engine:
    """Buffers that hold a problem, and the kernels that serve it.

    Parameters
    ----------
    problem
        Copied, once.
    threads
        Of host Metal.

    Raises
    ------
    InvalidArgument
        Prefill attention does not serve the shape.
    """

    def __init__(self, problem: PrefillProblem, threads: int) -> None:
        # What is compared is the native engine; Apple's Metal has none.
        choice = {"engine": "native", "threads": threads} if _host.available() else {}
        self.device = fm.Device(**choice)
        self.registry = fm.KernelRegistry(self.device)
        is_tensor = problem.shape.head_dim in flash_attn_prefill_tensor.HEAD_DIMS
        module = flash_attn_prefill_tensor if is_tensor else flash_attn_prefill_simdgroup
        module.register(self.registry)
        flash_attn_prefill_blk.register(self.registry)
        self.buffers = PrefillBuffers.fill(
            module.OPERATION,
            self.device.alloc,
            problem.q,
            problem.k,
            problem.v,
            lambda cells: np.copyto(cells, problem.mask),
        )

    def run(self) -> None:
        """Encode the classes of the mask's tiles and the attention, commit and wait."""
        encoder = self.device.encoder()
        self.buffers.encode(encoder, self.registry, None)
        encoder.commit_and_wait()

    def result(self) -> np.ndarray:
        """Give the last run's output, ``[rows, n_heads, head_dim]``."""
        return np.asarray(self.buffers.out)

    def call(self, name: str) -> Call:
        """Give it as one of the ways to compute the problem; it has run once."""
        self.run()
        return Call(name, "f16", self.run, self.result)
