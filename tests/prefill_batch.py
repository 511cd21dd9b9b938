"""Batches of prefill problems in one command buffer, judged by float64 and the rounding model."""

import numpy as np
from prefill_model import rounded_prefill
from prefill_runner import reference_of

from flashmetal.prefill_problems import MASKS, PrefillProblem, PrefillShape, make_prefill_problem
from flashmetal.reference import Reference, compare

# Against the model, where a rounding that is missing or one too many costs 4e-8. In one case a
# single weight that rounds the other way, as exp's last bit decides, may cost half of that, and
# more where there are few weights.
MODEL_NMSE = 1e-8
MODEL_NMSE_OF_A_CASE = 2e-8


class Source:
    """Problems that are parts of a large one: drawing numbers takes longer than attention."""

    def __init__(self, rows, kv_len, head_dim, heads=(16, 7)):
        self.whole = make_prefill_problem(PrefillShape(rows, *heads, head_dim, kv_len))

    def problem(self, rows, heads, kv_len, mask, head_dim=None):
        """Return one of the whole's last rows and keys, and first heads and dims."""
        n_heads, n_kv_heads = heads
        q = self.whole.q[-rows:, :n_heads, :head_dim]
        k, v = (array[-kv_len:, :n_kv_heads, :head_dim] for array in (self.whole.k, self.whole.v))
        random = np.random.default_rng((rows, kv_len))
        return PrefillProblem(q, k, v, MASKS[mask](random, rows, kv_len).astype(np.float16))


def check_batch(runs, problems, layouts, model_nmse_of_a_case=MODEL_NMSE_OF_A_CASE):
    """Run problems on each engine, with their layouts of q, k and v; hold them to every limit."""
    models = [rounded_prefill(problem) for problem in problems]
    references = [reference_of(problem) for problem in problems]
    for run in runs:
        calls = [run.prepare(*pair) for pair in zip(problems, layouts, strict=True)]
        outs = run.run(calls)
        for problem, out, model, reference in zip(problems, outs, models, references, strict=True):
            accuracy = compare(out, reference)
            assert accuracy.within_bound, (problem.shape, accuracy)
            assert accuracy.within_nmse_limits, (problem.shape, accuracy)
            of_model = compare(out, Reference(model, model)).nmse
            assert of_model <= model_nmse_of_a_case, (problem.shape, of_model)
        assert _nmse(outs, models) <= MODEL_NMSE


def check_bound(runs, problems, scale=None):
    """Run problems on each engine, and hold every element to its bound."""
    references = [reference_of(problem, scale) for problem in problems]
    for run in runs:
        outs = run.run([run.prepare(problem, scale=scale) for problem in problems])
        for problem, out, reference in zip(problems, outs, references, strict=True):
            accuracy = compare(out, reference)
            assert accuracy.within_bound, (problem.shape, accuracy)


def _nmse(outs, expected):
    outs, expected = (np.concatenate([x.ravel() for x in arrays]) for arrays in (outs, expected))
    return np.square(outs - expected).sum() / np.square(expected).sum()
