"""Run by test_hot_path.py with malloc counted: prints how often each hot call asks for memory.

Python's own objects come from malloc, too: PYTHONMALLOC=malloc.
"""

import ctypes
import itertools
import json

import flashmetal as fm
from flashmetal.ops.flash_attention import FlashAttentionParams, encode_attention, register

CALLS = 500

count = ctypes.CDLL(None).allocation_count
count.restype = ctypes.c_long
device = fm.Device(threads=1)
registry = fm.KernelRegistry(device)
register(registry)
shape = {"n_heads": 4, "n_kv_heads": 2, "head_dim": 64}
q, out = (device.alloc((4, 64), "f32") for _ in range(2))
k, v = (device.alloc((600, 2, 64), "f16") for _ in range(2))
params = FlashAttentionParams(seq_len=300, **shape)
plan = fm.DecodePlan(registry, q, k, v, out, **shape)
launch = fm.LaunchPlan(plan.pipeline, {0: q, 1: k, 2: v, 3: out, 4: params.pack()}, 4, 256)
step = fm.DecodeStep([plan, fm.BARRIER, launch, fm.BARRIER])
packed = bytearray(32)
cache = fm.KVCache(device, 1, 100, 2, 64, growth="ring")
row = device.alloc((2, 64), "f32")
LENGTH, START, SEQ_LEN_OFFSET = 500, 99, 16


def allocations_of(body):
    """Of CALLS calls into one encoder, the second time, when host Metal has its memory."""
    counted = 0
    for _ in range(2):
        encoder = device.encoder()
        launch.encode(encoder)
        before = count()
        body(encoder)
        counted = count() - before
        encoder.discard()
    return counted


def encode_plan(encoder):
    for _ in itertools.repeat(None, CALLS):
        plan.encode(encoder, LENGTH, START)


def encode_launch(encoder):
    for _ in itertools.repeat(None, CALLS):
        launch.patch(4, SEQ_LEN_OFFSET, LENGTH)
        launch.encode(encoder)


def encode_step(encoder):
    for _ in itertools.repeat(None, CALLS // 2):
        step.encode(encoder, LENGTH, START)


def encode_checked(encoder):
    for _ in itertools.repeat(None, CALLS):
        encode_attention(encoder, registry, q, k, v, out, params)


def pack(encoder):
    for _ in itertools.repeat(None, CALLS):
        params.seq_len = LENGTH
        params.pack_into(packed)


def append(encoder):
    """From buffers: NumPy asks for memory whenever an array exports its own."""
    for _ in itertools.repeat(None, CALLS):
        cache.append(0, row, row)


def nothing(encoder):
    """What measuring itself asks for."""
    for _ in itertools.repeat(None, CALLS):
        pass


def control(encoder):
    """What does ask for memory, so that the counter is seen to count."""
    for _ in itertools.repeat(None, CALLS):
        bytearray(1000)


bodies = encode_plan, encode_launch, encode_step, encode_checked, pack, append, nothing, control
print(json.dumps({body.__name__: allocations_of(body) for body in bodies}))
