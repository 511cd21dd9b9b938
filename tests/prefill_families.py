"""The families of prefill kernels, for tests of what all of them promise."""

from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

import pytest

from flashmetal.ops import flash_attn_prefill_simdgroup as simdgroup_op
from flashmetal.ops import flash_attn_prefill_tensor as tensor_op


class Family(NamedTuple):
    """An operation's module, and what has its name in the module's names."""

    op: ModuleType
    kernels: tuple[str, ...]
    params: type
    dispatch: Callable
    available: Callable

    @property
    def name(self):
        return self.op.OP


TENSOR = Family(
    tensor_op,
    (tensor_op.K_TENSOR_F16_D256, tensor_op.K_TENSOR_F16_D512),
    tensor_op.FlashAttnPrefillTensorParams,
    tensor_op.dispatch_flash_attn_prefill_tensor_f16,
    tensor_op.flash_attn_prefill_tensor_available,
)
SIMDGROUP = Family(
    simdgroup_op,
    simdgroup_op.KERNELS,
    simdgroup_op.FlashAttnPrefillSimdgroupParams,
    simdgroup_op.dispatch_flash_attn_prefill_simdgroup_f16,
    simdgroup_op.flash_attn_prefill_simdgroup_available,
)
FAMILIES = (TENSOR, SIMDGROUP)

# Each with a head_dim: both tensor kernels, and of the others one that ends in the middle of a
# block and two that are specialised.
FAMILIES_AND_HEAD_DIMS = [
    pytest.param((family, head_dim), id=f"{family.name}-{head_dim}")
    for family, head_dim in (
        (TENSOR, 256),
        (TENSOR, 512),
        (SIMDGROUP, 100),
        (SIMDGROUP, 128),
        (SIMDGROUP, 256),
    )
]
