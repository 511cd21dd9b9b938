"""FlashAttentionParams: the kernel's words, exact or refused."""

import copy
import math
import pickle
import struct

import numpy as np
import pytest

import flashmetal as fm
from flashmetal.ops.flash_attention import FlashAttentionParams

SHAPE = {"n_heads": 9, "n_kv_heads": 3, "head_dim": 64, "seq_len": 1281}
U32_MAX = 2**32 - 1


def make(**changes):
    return FlashAttentionParams(**{**SHAPE, **changes})


def f32_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def words(params):
    return struct.unpack("<8I", params.pack())


def test_words_are_in_the_order_of_the_kernels_struct():
    assert words(make()) == (9, 3, 64, 192, 1281, f32_bits(0.125), 0, 0)


@pytest.mark.parametrize("head_dim", [1, 3, 4, 36, 48, 64, 80, 96, 100, 128, 130, 65535])
def test_default_scale_is_rounded_once_from_f64(head_dim):
    expected = float(np.float32(1 / math.sqrt(head_dim)))
    assert make(head_dim=head_dim).scale == expected


@pytest.mark.parametrize("scale", [0, -1, 0.1, 3.4028234e38, 1e-45, np.float32(0.3), np.int64(2)])
def test_given_scale_is_rounded_to_f32(scale):
    params = make(scale=scale)
    assert params.scale == float(np.float32(scale))
    assert words(params)[5] == f32_bits(scale)


def test_attributes_give_the_words():
    params = make()
    values = (params.n_heads, params.n_kv_heads, params.head_dim, params.kv_dim, params.seq_len)
    assert values == (9, 3, 64, 192, 1281)


def test_seq_len_and_scale_may_be_set_again():
    params = make()
    params.seq_len = U32_MAX
    params.scale = 2
    assert words(params) == (9, 3, 64, 192, U32_MAX, f32_bits(2.0), 0, 0)


@pytest.mark.parametrize("field", ["n_heads", "n_kv_heads", "head_dim", "kv_dim"])
def test_shape_is_fixed(field):
    with pytest.raises(AttributeError):
        setattr(make(), field, 1)


@pytest.mark.parametrize("field", SHAPE)
@pytest.mark.parametrize("value", [-1, 2**32, 2**64, 2.0, "8", None])
def test_integer_outside_u32_is_refused_by_name(field, value):
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        make(**{field: value})
    assert str(caught.value) == (
        f"Invalid argument: flash_attention: {field} must be an integer from 0 to {U32_MAX}, "
        f"got {value!r}"
    )


@pytest.mark.parametrize("field", SHAPE)
@pytest.mark.parametrize("value", [0, U32_MAX, np.uint32(7), np.int64(5)])
def test_integer_inside_u32_is_taken_exactly(field, value):
    # The other factor of kv_dim is 1, so that it fits.
    params = make(**{"n_kv_heads": 1, "head_dim": 1, field: value})
    assert getattr(params, field) == value


def test_kv_dim_beyond_u32_is_refused_by_name():
    with pytest.raises(fm.errors.InvalidArgument, match=rf"kv_dim must be .* got {2**32}$"):
        make(n_kv_heads=2**16, head_dim=2**16)
    assert make(n_kv_heads=2**16 - 1, head_dim=2**16).kv_dim == 2**32 - 2**16


@pytest.mark.parametrize("scale", [math.nan, math.inf, -math.inf, 3.5e38, 1e300, "1", 10**400, 1j])
def test_scale_that_is_no_finite_f32_is_refused(scale):
    with pytest.raises(fm.errors.InvalidArgument, match="scale must be a finite f32, got"):
        make(scale=scale)


def test_refused_value_leaves_the_params_as_they_were():
    params = make()
    with pytest.raises(fm.errors.InvalidArgument):
        params.seq_len = -1
    with pytest.raises(fm.errors.InvalidArgument):
        params.scale = math.nan
    assert params == make()


def test_empty_head_is_taken_here_and_refused_at_dispatch():
    assert make(head_dim=0).scale == math.inf


def test_pack_into_writes_32_bytes_at_the_offset():
    target = bytearray(b"\xaa" * 48)
    make().pack_into(target, 8)
    assert target == b"\xaa" * 8 + make().pack() + b"\xaa" * 8


def test_pack_into_takes_arrays():
    target = np.zeros(8, np.uint32)
    make().pack_into(target)
    assert tuple(target) == words(make())


@pytest.mark.parametrize(
    ("target", "offset", "text"),
    [
        (bytearray(31), 0, "pack_into needs 32 bytes, got 31"),
        (bytearray(32), 1, "pack_into offset must be an integer from 0 to 0, got 1"),
        (bytearray(40), -1, "pack_into offset must be an integer from 0 to 8, got -1"),
        (bytearray(40), 2**70, "pack_into offset must be an integer from 0 to 8, got"),
        (bytearray(40), 1.0, "pack_into offset must be an integer from 0 to 8, got 1.0"),
        (bytes(32), 0, "pack_into needs a writable, contiguous buffer"),
        (np.zeros(16, np.uint32)[::2], 0, "pack_into needs a writable, contiguous buffer"),
        ([0] * 8, 0, "pack_into needs a writable, contiguous buffer"),
    ],
)
def test_pack_into_refuses_what_does_not_fit(target, offset, text):
    with pytest.raises(fm.errors.InvalidArgument, match=text):
        make().pack_into(target, offset)


def test_params_with_the_same_words_are_equal():
    assert make() == make(scale=0.125)
    assert make() != make(seq_len=1)
    assert make() != make(scale=0.5)
    assert make() != "params"


def test_mutable_params_are_not_hashable():
    with pytest.raises(TypeError):
        hash(make())


def test_repr_evaluates_to_the_same_params():
    params = make(head_dim=128)
    text = repr(params)
    assert text == (
        "FlashAttentionParams(n_heads=9, n_kv_heads=3, head_dim=128, seq_len=1281, "
        "scale=0.0883883461)"
    )
    assert eval(text) == params


@pytest.mark.parametrize("params", [make(), make(scale=0.3), make(head_dim=0)], ids=repr)
def test_copies_and_pickles_are_equal(params):
    assert copy.copy(params) == params
    assert pickle.loads(pickle.dumps(params)) == params
