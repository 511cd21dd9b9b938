from collections.abc import Iterable
from typing import SupportsIndex, final

from ._decode_plan import DecodePlan
from ._encoder import CommandEncoder
from ._plan import LaunchPlan

@final
class Barrier: ...

BARRIER: Barrier

@final
class DecodeStep:
    def __init__(self, entries: Iterable[DecodePlan | LaunchPlan | Barrier]) -> None: ...
    def encode(
        self, encoder: CommandEncoder, seq_len: SupportsIndex, start: SupportsIndex = 0
    ) -> None: ...
    @property
    def entries(self) -> tuple[DecodePlan | LaunchPlan | Barrier, ...]: ...
    @property
    def capacity(self) -> int: ...
