from typing import SupportsIndex

from ._buffer import Buffer
from ._encoder import CommandEncoder
from ._params import FlashAttentionParams
from ._registry import KernelRegistry

MAX_HEAD_DIM: int
KERNELS: tuple[str, ...]

def kernel_name(head_dim: int) -> str: ...
def supports_head_dim(head_dim: int) -> bool: ...
def encode_attention(
    encoder: CommandEncoder,
    registry: KernelRegistry,
    q: Buffer,
    k_cache: Buffer,
    v_cache: Buffer,
    out: Buffer,
    params: FlashAttentionParams,
) -> None: ...
def encode_attention_q_offset(
    encoder: CommandEncoder,
    registry: KernelRegistry,
    q: Buffer,
    k_cache: Buffer,
    v_cache: Buffer,
    out: Buffer,
    params: FlashAttentionParams,
    q_off_bytes: SupportsIndex,
    out_off_bytes: SupportsIndex,
) -> None: ...
