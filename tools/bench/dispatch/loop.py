"""A token of a decode loop, one way faster than the other: attention of all layers, to its end.

Every layer reads what the one before wrote, as in a model. The rows attended to are few, so that
the host's part shows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from time import perf_counter

import numpy as np

import flashmetal as fm
from flashmetal.bench.dispatch.decoding import LAYERS, ROWS, SHAPE, Decoding
from flashmetal.bench.timing import Case, warm
from flashmetal.ops.flash_attention import encode_attention

__all__ = ["CASES", "cases"]

SEQ_LEN = 16
READINGS = 3

# Each beside the one before it.
CASES = (
    "token: fm.attention on arrays",
    "token: encode_attention, a command buffer each",
    "token: encode_attention, one command buffer",
    "token: DecodePlan.encode",
    "token: DecodeStep.encode",
    "token: DecodeStep.encode, spin",
)


def cases(decoding: Decoding) -> dict[str, Case]:
    """Give the cases."""
    ways = (
        _on_arrays(decoding),
        _command_buffer_each(decoding),
        _one_command_buffer(decoding),
        _plans(decoding),
        _step(decoding, "auto"),
        _step(decoding, "spin"),
    )
    return {
        **{name: _case(way) for name, way in zip(CASES, ways, strict=True)},
        "rows: NumPy assignment": _case(_assign(decoding)),
        "rows: KVCache.append": _case(_append(decoding)),
    }


def _case(run: Callable[[], object]) -> Case:
    def read() -> float:
        start = perf_counter()
        run()
        return perf_counter() - start

    return Case(warm(read, READINGS))


def _on_arrays(decoding: Decoding) -> Callable[[], object]:
    device, q = decoding.device, np.asarray(decoding.q)
    arrays = [tuple(np.asarray(rows)[:SEQ_LEN] for rows in caches) for caches in decoding.caches]

    def run() -> None:
        for k, v in arrays:
            fm.attention(q, k, v, device=device)

    return run


def _command_buffer_each(decoding: Decoding) -> Callable[[], object]:
    device, registry, params = decoding.device, decoding.registry, decoding.params

    def run() -> None:
        params.seq_len = SEQ_LEN
        for k, v in decoding.caches:
            encoder = device.encoder()
            encode_attention(encoder, registry, decoding.q, k, v, decoding.out, params)
            encoder.commit_and_wait()

    return run


def _one_command_buffer(decoding: Decoding) -> Callable[[], object]:
    device, registry, params = decoding.device, decoding.registry, decoding.params

    def run() -> None:
        params.seq_len = SEQ_LEN
        encoder = device.encoder()
        for k, v in decoding.caches:
            encode_attention(encoder, registry, decoding.q, k, v, decoding.out, params)
            encoder.memory_barrier()
        encoder.commit_and_wait()

    return run


def _plans(decoding: Decoding) -> Callable[[], object]:
    device, plans = decoding.device, decoding.plans

    def run() -> None:
        encoder = device.encoder()
        for plan in plans:
            plan.encode(encoder, SEQ_LEN)
            encoder.memory_barrier()
        encoder.commit_and_wait()

    return run


def _step(decoding: Decoding, mode: str) -> Callable[[], object]:
    device = decoding.device
    step = fm.DecodeStep([entry for plan in decoding.plans for entry in (plan, fm.BARRIER)])

    def run() -> None:
        encoder = device.encoder()
        step.encode(encoder, SEQ_LEN)
        encoder.commit_and_wait(None, mode)

    return run


def _rows() -> tuple[np.ndarray, np.ndarray]:
    k, v = np.random.default_rng(0).standard_normal(
        (2, SHAPE["n_kv_heads"], SHAPE["head_dim"]), "f4"
    )
    return k, v


def _assign(decoding: Decoding) -> Callable[[], object]:
    """Round a row into each layer's arrays, as NumPy does, and say nothing of what overflows."""
    k, v = _rows()
    arrays = [tuple(np.asarray(rows) for rows in caches) for caches in decoding.caches]
    positions = count()

    def run() -> None:
        position = next(positions) % ROWS
        for keys, values in arrays:
            keys[position] = k
            values[position] = v

    return run


def _append(decoding: Decoding) -> Callable[[], object]:
    """Append a row to each layer of a cache."""
    k, v = _rows()
    cache = fm.KVCache(decoding.device, LAYERS, ROWS, *list(SHAPE.values())[1:])

    def run() -> None:
        if len(cache) == ROWS:
            cache.reset()
        for layer in range(LAYERS):
            cache.append(layer, k, v)

    return run
