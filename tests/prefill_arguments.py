"""Arguments of prefill dispatches that pass every check, for tests that spoil one of them."""

import pytest

import flashmetal as fm

NAMES = ("q", "k", "v", "mask", "blk", "out")
HEADS, KV_HEADS, ROWS, KV_PAD, HEAD_DIM = 4, 2, 40, 128, 256
SHAPE = {
    "rows": ROWS,
    "n_heads": HEADS,
    "n_kv_heads": KV_HEADS,
    "head_dim": HEAD_DIM,
    "kv_pad": KV_PAD,
    "q_row_stride": HEADS * HEAD_DIM,
    "q_head_stride": HEAD_DIM,
    "k_row_stride": KV_HEADS * HEAD_DIM,
    "k_head_stride": HEAD_DIM,
    "v_row_stride": KV_HEADS * HEAD_DIM,
    "v_head_stride": HEAD_DIM,
}
DTYPES = {"q": "f32", "k": "f16", "v": "f16", "mask": "f16", "blk": "u8", "out": "f32"}
COUNTS = {
    "q": ROWS * HEADS * HEAD_DIM,
    "k": KV_PAD * KV_HEADS * HEAD_DIM,
    "v": KV_PAD * KV_HEADS * HEAD_DIM,
    "mask": ROWS * KV_PAD,
    "blk": 2 * 2,
    "out": ROWS * HEADS * HEAD_DIM,
}
SIZES = {"f32": 4, "f16": 2, "u8": 1}


def params_of(family, **changes):
    return family.params(**{**SHAPE, **changes})


def buffers_of(device, **changes):
    """Buffers that suit SHAPE, by name; changes replace some of them."""
    made = {name: device.alloc(COUNTS[name], DTYPES[name]) for name in NAMES if name not in changes}
    return {name: changes.get(name, made.get(name)) for name in NAMES}


def refuse(family, registry, params, buffers, error=fm.errors.InvalidArgument):
    """Encode, see it refused without a trace, and return the text after the operation's name."""
    prefix = f"Invalid argument: {family.name}: "
    encoder = registry.device.encoder()
    with pytest.raises(error) as caught:
        family.dispatch(encoder, registry, *buffers.values(), params)
    assert (encoder.dispatch_count, encoder.command_buffer_count) == (0, 0)
    assert str(caught.value).startswith(prefix)
    return str(caught.value).removeprefix(prefix)
