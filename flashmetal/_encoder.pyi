from types import TracebackType
from typing import Literal, SupportsFloat, TypeAlias

from ._buffer import Buffer
from ._device import Device
from ._dispatch import BufferWithOffset
from ._pipeline import Pipeline

Argument: TypeAlias = (
    Buffer | tuple[Buffer, int] | BufferWithOffset | bytes | bytearray | memoryview
)
WaitMode: TypeAlias = Literal["auto", "block", "spin"]
Size: TypeAlias = int | tuple[int] | tuple[int, int] | tuple[int, int, int]

class CommandEncoder:
    def __init__(self, device: Device, label: str | None = None) -> None: ...
    def __enter__(self) -> CommandEncoder: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def dispatch(
        self,
        pipeline: Pipeline,
        args: dict[int, Argument],
        threadgroups: Size,
        threads_per_threadgroup: Size,
        threadgroup_memory: dict[int, int] | None = None,
    ) -> None: ...
    def dispatch_threads(
        self,
        pipeline: Pipeline,
        args: dict[int, Argument],
        threads: Size,
        threads_per_threadgroup: Size,
        threadgroup_memory: dict[int, int] | None = None,
    ) -> None: ...
    def memory_barrier(self) -> None: ...
    def commit(self) -> None: ...
    def wait(self, timeout: SupportsFloat | None = None, mode: WaitMode = "auto") -> None: ...
    def commit_and_wait(
        self, timeout: SupportsFloat | None = None, mode: WaitMode = "auto"
    ) -> None: ...
    async def completed(self) -> None: ...
    def discard(self) -> None: ...
    def gpu_time(self) -> float: ...
    @property
    def device(self) -> Device: ...
    @property
    def label(self) -> str | None: ...
    @property
    def state(self) -> Literal["open", "committed", "completed", "failed", "discarded"]: ...
    @property
    def dispatch_count(self) -> int: ...
    @property
    def barrier_count(self) -> int: ...
    @property
    def command_buffer_count(self) -> int: ...
