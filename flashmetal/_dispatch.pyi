from typing import SupportsIndex

from ._buffer import Buffer

class BufferWithOffset:
    def __init__(self, buffer: Buffer, offset: SupportsIndex) -> None: ...
    @property
    def buffer(self) -> Buffer: ...
    @property
    def offset(self) -> int: ...
