from typing import SupportsFloat, SupportsIndex, final

from ._buffer import Buffer
from ._encoder import CommandEncoder
from ._plan import Plan
from ._registry import KernelRegistry

@final
class DecodePlan(Plan):
    def __init__(
        self,
        registry: KernelRegistry,
        q: Buffer,
        k_cache: Buffer,
        v_cache: Buffer,
        out: Buffer,
        *,
        n_heads: SupportsIndex,
        n_kv_heads: SupportsIndex,
        head_dim: SupportsIndex,
        scale: SupportsFloat | None = None,
    ) -> None: ...
    def encode(
        self, encoder: CommandEncoder, seq_len: SupportsIndex, start: SupportsIndex = 0
    ) -> None: ...
    @property
    def capacity(self) -> int: ...
