from typing import SupportsFloat, SupportsIndex, final

from _typeshed import ReadableBuffer

from ._device import Device
from ._encoder import Argument, CommandEncoder, Size
from ._pipeline import Pipeline

class Plan:
    @property
    def pipeline(self) -> Pipeline: ...
    @property
    def device(self) -> Device: ...

@final
class LaunchPlan(Plan):
    def __init__(
        self,
        pipeline: Pipeline,
        args: dict[int, Argument],
        threadgroups: Size,
        threads_per_threadgroup: Size,
        threadgroup_memory: dict[int, int] | None = None,
        *,
        exact_threads: bool = False,
    ) -> None: ...
    def encode(self, encoder: CommandEncoder) -> None: ...
    def patch(
        self,
        index: SupportsIndex,
        byte_offset: SupportsIndex,
        value: SupportsIndex | SupportsFloat | ReadableBuffer,
    ) -> None: ...
