from collections.abc import Callable, Iterable, Mapping

from ._device import Device
from ._pipeline import Pipeline
from .compile_options import CompileOptions
from .errors import FlashMetalError

class KernelRegistry:
    def __init__(self, device: Device) -> None: ...
    def register_source(
        self, name: str, source: str, *, options: CompileOptions | None = None
    ) -> None: ...
    def register_header(self, name: str, text: str) -> None: ...
    def get_pipeline(
        self,
        name: str,
        constants: Mapping[int, bool | int] | None = None,
        *,
        device: Device | None = None,
    ) -> Pipeline: ...
    def probe_optional_pipeline(
        self,
        name: str,
        unavailable: Callable[[FlashMetalError], bool],
        *,
        device: Device | None = None,
    ) -> tuple[bool, bool]: ...
    def prewarm(self, names: Iterable[str]) -> None: ...
    def is_cached(self, name: str, constants: Mapping[int, bool | int] | None = None) -> bool: ...
    @property
    def device(self) -> Device: ...
    @property
    def cached_count(self) -> int: ...
    @property
    def source_count(self) -> int: ...

def is_unavailable_tensor_header(error: BaseException) -> bool: ...
