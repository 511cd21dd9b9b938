"""The masks that prefill attention is measured under."""

from __future__ import annotations

import dataclasses

import numpy as np

from flashmetal.prefill_problems import PrefillProblem, PrefillShape, make_prefill_problem

__all__ = ["MASKS", "make_masked_problem"]

# Dense: a bias in every cell, so that no tile is skipped and none goes without the mask.
MASKS = ("dense", "causal", "open")


def make_masked_problem(shape: PrefillShape, mask: str, seed: int = 0) -> PrefillProblem:
    """Return a problem of unit-normal values under one of `MASKS`: the same one each time."""
    if mask != "dense":
        return make_prefill_problem(shape, mask=mask, seed=seed)
    problem = make_prefill_problem(shape, seed=seed)
    biases = np.random.default_rng(seed).standard_normal(problem.mask.shape, np.float32)
    return dataclasses.replace(problem, mask=biases.astype(np.float16))
