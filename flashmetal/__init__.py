"""Flash-attention kernels on Apple GPUs with low overhead per call, and Metal kernels on the CPU.

`Device` opens the system's Metal device; where there is none, as on Linux, it opens the host
device, which runs the same kernels on the CPU. `attention` needs no objects: arrays in, array out.
"""

from . import errors
from ._bridge import version
from ._buffer import Buffer
from ._decode_plan import DecodePlan
from ._decode_step import BARRIER, DecodeStep
from ._device import Device
from ._dispatch import BufferWithOffset
from ._encoder import CommandEncoder
from ._kv_cache import KVCache
from ._pipeline import Pipeline
from ._plan import LaunchPlan
from ._registry import KernelRegistry, is_unavailable_tensor_header
from .attention import attention
from .compile_options import CompileOptions
from .exchange import from_dlpack
from .resources import get_cython_include, get_include

__all__ = [
    "BARRIER",
    "Buffer",
    "BufferWithOffset",
    "CommandEncoder",
    "CompileOptions",
    "DecodePlan",
    "DecodeStep",
    "Device",
    "KVCache",
    "KernelRegistry",
    "LaunchPlan",
    "Pipeline",
    "__version__",
    "attention",
    "errors",
    "from_dlpack",
    "get_cython_include",
    "get_include",
    "is_unavailable_tensor_header",
]

__version__ = version()
del version
