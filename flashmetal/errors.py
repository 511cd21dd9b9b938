"""The errors of flashmetal: every one is a `FlashMetalError` and the builtin a caller expects.

An exception's `args` are the arguments of its class, so that it pickles; `str` gives the text.
"""

# The names are the contract's, and say what happened.
# ruff: noqa: N818

from __future__ import annotations

import sys

__all__ = [
    "BufferAllocationError",
    "CacheWarning",
    "CommandBufferError",
    "DeviceNotFound",
    "F16Overflow",
    "FlashMetalError",
    "InvalidArgument",
    "InvalidState",
    "InvalidType",
    "IoError",
    "KernelNotFound",
    "ShaderCompilationError",
    "UnsupportedDtype",
    "UnsupportedFeature",
    "WaitTimeout",
]

# What Metal's codes of a command buffer error (MTLCommandBufferErrorDomain) stand for.
KIND_OF_CODE = {
    0: "none",
    1: "internal",
    2: "timeout",
    3: "page_fault",
    4: "access_revoked",
    7: "not_permitted",
    8: "out_of_memory",
    9: "invalid_resource",
    10: "memoryless",
    11: "device_removed",
    12: "stack_overflow",
}

HOST_DEVICE_ADVICE = (
    "; flashmetal.Device() gives the host device, which runs kernels on the CPU, when flashmetal "
    "is built with the option -Dmetal=host (the default on Linux)"
)


class FlashMetalError(Exception):
    """The base of all errors of flashmetal."""

    is_transient = False
    """Whether the same call may succeed when it is made again."""

    @classmethod
    def from_bridge(cls, message: str, code: int, name: str) -> FlashMetalError:
        """Make the error from what the bridge reports: Metal's text and code, the caller's name."""
        del code, name
        return cls(message)


class CacheWarning(FlashMetalError, UserWarning):
    """The folder that FLASHMETAL_CACHE_DIR names keeps no compiled kernels: a warning, once."""

    def __str__(self) -> str:
        return (
            f"FLASHMETAL_CACHE_DIR keeps no compiled kernels, so that each process compiles them "
            f"anew: {self.args[0]}"
        )


class DeviceNotFound(FlashMetalError, RuntimeError):
    """There is no Metal device."""

    def __init__(self, advice: str = HOST_DEVICE_ADVICE if sys.platform == "linux" else "") -> None:
        super().__init__(advice)

    def __str__(self) -> str:
        return f"No Metal GPU device found — Apple Silicon required{self.args[0]}"

    @classmethod
    def from_bridge(cls, message: str, code: int, name: str) -> FlashMetalError:
        del message, code, name
        return cls()


class CommandBufferError(FlashMetalError, RuntimeError):
    """A command buffer ended with an error, or Metal refused to make one.

    Attributes
    ----------
    detail : str
        Metal's text.
    code : int
        Metal's code, 0 when there was none.
    kind : str
        What the code stands for: "timeout" (Metal's watchdog), "out_of_memory", "page_fault", ...;
        "unknown" for a code that Metal does not document.
    label : str or None
        The label of the encoder.
    """

    is_transient = True

    def __init__(self, detail: str, code: int = 0, label: str | None = None) -> None:
        super().__init__(detail, code, label)
        self.detail = detail
        self.code = code
        self.kind = KIND_OF_CODE.get(code, "unknown")
        self.label = label

    def __str__(self) -> str:
        return f"Command buffer error: {self.detail}"

    @classmethod
    def from_bridge(cls, message: str, code: int, name: str) -> FlashMetalError:
        return cls(message, code, name)


class ShaderCompilationError(FlashMetalError, ValueError):
    """A library, function or pipeline could not be made.

    Attributes
    ----------
    name : str
        The kernel or file.
    message : str
        The compiler's text, whole.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(name, message)
        self.name = name
        self.message = message

    def __str__(self) -> str:
        return f"Shader compilation error for '{self.name}': {self.message}"

    @classmethod
    def from_bridge(cls, message: str, code: int, name: str) -> FlashMetalError:
        del code
        return cls(name, message)


class BufferAllocationError(FlashMetalError, MemoryError):
    """Metal refused to make a buffer.

    Attributes
    ----------
    byte_len : int
        The length that was asked for.
    detail : str
        What the caller can do about it; may be empty.
    """

    def __init__(self, byte_len: int, detail: str = "") -> None:
        super().__init__(byte_len, detail)
        self.byte_len = byte_len
        self.detail = detail

    def __str__(self) -> str:
        text = f"Failed to allocate Metal buffer of {self.byte_len} bytes"
        return f"{text}: {self.detail}" if self.detail else text


class InvalidArgument(FlashMetalError, ValueError):
    """An argument is outside what the function takes."""

    def __str__(self) -> str:
        return f"Invalid argument: {self.args[0]}"


class InvalidType(InvalidArgument, TypeError):
    """An argument is an object of another class than the function takes."""


class F16Overflow(InvalidArgument, OverflowError):
    """A finite number is too large for f16, where it would become an infinity.

    Attributes
    ----------
    layer : int
        Of the cache.
    name : str
        "k" or "v".
    row : int
        Of the rows that were to be appended.
    value : float
        The number.
    """

    def __init__(self, layer: int, name: str, row: int, value: float) -> None:
        super().__init__(layer, name, row, value)
        self.layer = layer
        self.name = name
        self.row = row
        self.value = value

    def __str__(self) -> str:
        return (
            f"Invalid argument: KVCache.append: layer {self.layer}: {self.value:g} in row "
            f"{self.row} of {self.name} is beyond the range of f16, which ends at 65504; nothing "
            "was appended"
        )


class KernelNotFound(FlashMetalError, LookupError):
    """No source is registered under this name.

    Attributes
    ----------
    name : str
        The name that was asked for.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"Kernel not found: {self.name}"


class UnsupportedDtype(FlashMetalError, TypeError):
    """An element type that flashmetal, or this function, does not take.

    Attributes
    ----------
    dtype : str
        The type as NumPy or the buffer protocol spells it.
    advice : str
        How to convert; may be empty.
    """

    def __init__(self, dtype: str, advice: str = "") -> None:
        super().__init__(dtype, advice)
        self.dtype = dtype
        self.advice = advice

    def __str__(self) -> str:
        text = f"Unsupported dtype: {self.dtype}"
        return f"{text}; {self.advice}" if self.advice else text


class IoError(FlashMetalError, OSError):
    """A file could not be read or written."""

    def __str__(self) -> str:
        return f"I/O error: {self.args[0]}"


class WaitTimeout(FlashMetalError, TimeoutError):
    """The work was not done in time; it can be waited on again, and is still in flight.

    Only where `commit_and_wait` found no room on the device it is not committed yet.

    Attributes
    ----------
    seconds : float
        How long the call waited.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"Wait timed out after {self.seconds:g} s"


class InvalidState(FlashMetalError, RuntimeError):
    """The call is not possible now: after commit, after fork, with too many open encoders."""

    def __str__(self) -> str:
        return f"Invalid state: {self.args[0]}"


class UnsupportedFeature(FlashMetalError, RuntimeError):
    """The device, the system or this build lacks something."""

    def __str__(self) -> str:
        return f"Unsupported feature: {self.args[0]}"
