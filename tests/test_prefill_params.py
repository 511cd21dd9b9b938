"""Params of prefill and BlkParams: the kernels' words, exact or refused."""

import copy
import math
import pickle
import struct

import numpy as np
import pytest

import flashmetal as fm
from flashmetal._prefill_params import PrefillParams
from flashmetal.ops.flash_attn_prefill_blk import BlkParams
from flashmetal.ops.flash_attn_prefill_simdgroup import FlashAttnPrefillSimdgroupParams
from flashmetal.ops.flash_attn_prefill_tensor import FlashAttnPrefillTensorParams

U32_MAX = 2**32 - 1
I32_MAX = 2**31 - 1
PREFILL = {
    "rows": 33,
    "n_heads": 8,
    "n_kv_heads": 2,
    "head_dim": 256,
    "kv_pad": 128,
    "q_row_stride": 2048,
    "q_head_stride": 260,
    "k_row_stride": 512,
    "k_head_stride": 264,
    "v_row_stride": 1024,
    "v_head_stride": 268,
}
BLK = {"seq_len_q": 33, "seq_len_k": 128, "bq": 32, "bk": 64, "mask_row_stride": 200}
STRUCTS = [
    (FlashAttnPrefillTensorParams, PREFILL, "flash_attn_prefill_tensor", 48),
    (FlashAttnPrefillSimdgroupParams, PREFILL, "flash_attn_prefill_simdgroup", 48),
    (BlkParams, BLK, "flash_attn_prefill_blk", 16),
]
FIELDS = [
    (kind, fields, subject, field) for kind, fields, subject, _ in STRUCTS for field in fields
]


@pytest.fixture(params=STRUCTS, ids=lambda struct: struct[0].__name__)
def struct_of(request):
    return request.param


@pytest.mark.parametrize(
    ("kind", "second_last"),
    [
        (FlashAttnPrefillTensorParams, PREFILL["kv_pad"]),  # the stride of the mask's rows
        (FlashAttnPrefillSimdgroupParams, PREFILL["head_dim"]),
    ],
)
def test_prefill_words_are_in_the_order_of_the_kernels_struct(kind, second_last):
    words = struct.unpack("<11if", kind(**PREFILL, scale=0.75).pack())
    assert words == (33, 8, 2, 128, 2048, 260, 512, 264, 1024, 268, second_last, 0.75)


def test_params_of_different_operations_are_different():
    assert FlashAttnPrefillTensorParams(**PREFILL) != FlashAttnPrefillSimdgroupParams(**PREFILL)


def test_the_base_of_prefill_params_makes_none():
    with pytest.raises(TypeError, match="PrefillParams is a base"):
        PrefillParams(**PREFILL)


def test_blk_words_are_in_the_order_of_the_kernels_struct():
    assert struct.unpack("<4i", BlkParams(**BLK).pack()) == (33, 128, 200, 0)


def test_arguments_may_be_given_in_order():
    values = PREFILL.values()
    assert FlashAttnPrefillTensorParams(*values, 0.5) == FlashAttnPrefillTensorParams(
        **PREFILL, scale=0.5
    )
    assert BlkParams(*BLK.values()) == BlkParams(**BLK)


def test_rows_of_a_mask_are_packed_by_default():
    assert BlkParams(33, 128, 32, 64).mask_row_stride == 128


@pytest.mark.parametrize("head_dim", [1, 36, 256, 512, 65535])
def test_default_scale_is_rounded_once_from_f64(head_dim):
    params = FlashAttnPrefillTensorParams(**{**PREFILL, "head_dim": head_dim})
    assert params.scale == float(np.float32(1 / math.sqrt(head_dim)))


@pytest.mark.parametrize("scale", [math.nan, math.inf, 3.5e38, "1", 1j])
def test_scale_that_is_no_finite_f32_is_refused(scale):
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        FlashAttnPrefillTensorParams(**PREFILL, scale=scale)
    assert str(caught.value) == (
        f"Invalid argument: flash_attn_prefill_tensor: scale must be a finite f32, got {scale!r}"
    )


@pytest.mark.parametrize(("kind", "fields", "subject", "field"), FIELDS)
@pytest.mark.parametrize("value", [-1, 2**32, 2**64, 2.0, "8"])
def test_integer_outside_u32_is_refused_by_name(kind, fields, subject, field, value):
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        kind(**{**fields, field: value})
    assert str(caught.value) == (
        f"Invalid argument: {subject}: {field} must be an integer from 0 to {U32_MAX}, "
        f"got {value!r}"
    )


@pytest.mark.parametrize(("kind", "fields", "subject", "field"), FIELDS)
@pytest.mark.parametrize("value", [0, I32_MAX, U32_MAX, np.uint32(7), np.int64(5)])
def test_integer_inside_u32_is_taken_exactly(kind, fields, subject, field, value):
    assert getattr(kind(**{**fields, field: value}), field) == value


@pytest.mark.parametrize(("kind", "fields", "subject", "field"), FIELDS)
def test_words_beyond_i32_are_refused_when_packed(kind, fields, subject, field):
    kind(**{**fields, field: I32_MAX}).pack()
    params = kind(**{**fields, field: I32_MAX + 1})
    no_words = ["bq", "bk"] if kind is not FlashAttnPrefillTensorParams else ["head_dim"]
    if field in no_words:
        params.pack()
        return
    text = f"Invalid argument: {subject}: a dimension exceeds i32: {params}"
    for pack in (params.pack, lambda: params.pack_into(bytearray(64))):
        with pytest.raises(fm.errors.InvalidArgument) as caught:
            pack()
        assert str(caught.value) == text


@pytest.mark.parametrize(("kind", "fields", "subject", "field"), FIELDS)
def test_fields_are_fixed(kind, fields, subject, field):
    with pytest.raises(AttributeError):
        setattr(kind(**fields), field, 1)


@pytest.mark.parametrize(("kind", "fields", "subject", "field"), FIELDS)
def test_each_field_counts_in_comparisons(kind, fields, subject, field):
    one, same, other = kind(**fields), kind(**fields), kind(**{**fields, field: 4})
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "params"


def test_pack_into_writes_the_words_at_the_offset(struct_of):
    kind, fields, _, size = struct_of
    target = bytearray(b"\xaa" * (size + 16))
    kind(**fields).pack_into(target, 8)
    assert target == b"\xaa" * 8 + kind(**fields).pack() + b"\xaa" * 8


def test_pack_into_refuses_what_does_not_fit(struct_of):
    kind, fields, subject, size = struct_of
    for target, offset, text in [
        (bytearray(size - 1), 0, f"pack_into needs {size} bytes, got {size - 1}"),
        (bytearray(size), 1, "pack_into offset must be an integer from 0 to 0, got 1"),
        (bytes(size), 0, "pack_into needs a writable, contiguous buffer"),
    ]:
        with pytest.raises(fm.errors.InvalidArgument, match=f"{subject}: {text}"):
            kind(**fields).pack_into(target, offset)


def test_repr_evaluates_to_the_same_params(struct_of):
    kind, fields, _, _ = struct_of
    params = kind(**fields)
    assert eval(repr(params)) == params
    assert all(f"{field}={value}" in repr(params) for field, value in fields.items())


def test_copies_and_pickles_are_equal(struct_of):
    kind, fields, _, _ = struct_of
    for params in (kind(**fields), kind(**dict.fromkeys(fields, 0))):
        assert copy.copy(params) == params
        assert pickle.loads(pickle.dumps(params)) == params
