"""The host device's control table for tests and tools: faults, limits, live objects, the cache.

Every function raises `UnsupportedFeature` on Apple's Metal, except `available` and `prepare`.
"""

import os
import warnings

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free

from flashmetal._bridge cimport host_control
from flashmetal._device cimport MOST_THREADS
from flashmetal._integer cimport to_integer

from flashmetal import resources
from flashmetal.errors import CacheWarning, InvalidArgument, UnsupportedFeature

__all__ = [
    "available",
    "cache_fault",
    "cache_folder",
    "compile_count",
    "compiler",
    "diagnostics",
    "dump_live_objects",
    "limits",
    "live_objects",
    "message_count",
    "multiply_adds",
    "prepare",
    "quiesce",
    "read_rate",
    "set_cache",
    "set_faults",
    "set_limits",
    "warn_of_cache",
]


cdef extern from "stdbool.h":
    ctypedef bint c_bool "bool"


cdef extern from "Python.h":
    # Leaves what it finds to its caller.
    int PyErr_CheckSignals() noexcept


cdef extern from "control.h" nogil:
    ctypedef struct hm_limits:
        uint64_t max_buffer_length
        uint64_t budget
        uint64_t max_threadgroup_memory

    ctypedef struct hm_diagnostics:
        long misuses
        long over_releases
        long poolless

    ctypedef struct hm_control:
        int (*faults)(const char *spec) noexcept
        void (*get_limits)(hm_limits *out) noexcept
        void (*set_limits)(const hm_limits *limits) noexcept
        long (*live_objects)(const char *class_name) noexcept
        void (*dump_live_objects)() noexcept
        bint (*quiesce)(int milliseconds) noexcept nogil
        void (*get_diagnostics)(hm_diagnostics *out) noexcept
        uint64_t (*message_count)() noexcept
        void (*set_headers)(const char *folder) noexcept
        void (*set_cache)(const char *folder) noexcept
        void (*set_interruption)(c_bool (*interrupted)() noexcept nogil) noexcept
        char *(*cache)() noexcept
        char *(*cache_fault)() noexcept
        char *(*compiler)() noexcept nogil
        uint64_t (*compile_count)() noexcept
        double (*multiply_adds)(uint32_t threads) noexcept nogil
        double (*read_rate)(const void *memory, size_t bytes, uint32_t threads) noexcept nogil


cdef bint prepared = False
cdef bint looked_at_cache = False


cdef const hm_control *control() except NULL:
    cdef const hm_control *table = <const hm_control *>host_control()
    if table == NULL:
        raise UnsupportedFeature("only the host device has controls, and this is Apple's Metal")
    return table


def available():
    """Tell whether this build runs on host Metal."""
    return host_control() != NULL


def prepare():
    """Tell host Metal, once, where its headers are and who knows of Ctrl-C."""
    global prepared
    if prepared or not available():
        return
    folder = os.fsencode(resources.msl_include())
    control().set_headers(folder)
    control().set_interruption(is_interrupted)
    prepared = True


cdef c_bool is_interrupted() noexcept nogil:
    # What a signal handler has raised stays raised: see raise_error in _bridge.
    with gil:
        return PyErr_CheckSignals() != 0


def warn_of_cache():
    """Warn, once, when FLASHMETAL_CACHE_DIR names a folder that keeps nothing."""
    global looked_at_cache
    if looked_at_cache or not available():
        return
    looked_at_cache = True
    fault = cache_fault()
    if fault is not None:
        warnings.warn(CacheWarning(fault))


def set_faults(spec=None):
    """Arm faults in place of the ones armed before.

    Parameters
    ----------
    spec : str, optional
        "site[:after=N][:count=N][:code=N][:ms=N];...": a site fails `count` times (1) once it has
        been passed `after` times (0). The sites device, queue, buffer, nocopy, library, function,
        pipeline, cmdbuf, encoder, event and make fail the call; exec ends the command buffer with
        error `code` after `ms`; hang delays its end by `ms`. None disarms all.

    Returns
    -------
    int
        Armed faults.
    """
    cdef bytes text = None if spec is None else spec.encode()
    armed = control().faults(c_string(text))
    if armed < 0:
        raise InvalidArgument(f"spec is not a list of faults: {spec!r}")
    return armed


def limits():
    """Give the limits in force, in bytes, as a dict."""
    cdef hm_limits now
    control().get_limits(&now)
    return now


def set_limits(max_buffer_length=None, budget=None, max_threadgroup_memory=None):
    """Set limits of the device in bytes; the ones left out go back to their defaults.

    Parameters
    ----------
    max_buffer_length : int, optional
        Of one buffer.
    budget : int, optional
        Of all buffers together.
    max_threadgroup_memory : int, optional
        Of one threadgroup.
    """
    cdef hm_limits new
    control().set_limits(NULL)
    control().get_limits(&new)
    if max_buffer_length is not None:
        new.max_buffer_length = max_buffer_length
    if budget is not None:
        new.budget = budget
    if max_threadgroup_memory is not None:
        new.max_threadgroup_memory = max_threadgroup_memory
    control().set_limits(&new)


def live_objects(class_name=None):
    """Count host Metal's live objects of a class, or of all classes but the device's."""
    cdef bytes text = None if class_name is None else class_name.encode()
    return control().live_objects(c_string(text))


def dump_live_objects():
    """Write the live objects to stderr."""
    control().dump_live_objects()


def quiesce(milliseconds=10_000):
    """Wait until all queues are idle; False when that takes longer."""
    cdef const hm_control *table = control()
    cdef int limit = milliseconds
    cdef bint idle
    with nogil:
        idle = table.quiesce(limit)
    return idle


def diagnostics():
    """Count broken rules of Metal, as a dict: misuses, over_releases, poolless."""
    cdef hm_diagnostics now
    control().get_diagnostics(&now)
    return now


def message_count():
    """Count the Objective-C messages sent to encoders since the start."""
    return control().message_count()


def set_cache(folder=None):
    """Keep compiled kernels in this folder; None: where the environment says."""
    cdef bytes path = None if folder is None else os.fsencode(folder)
    control().set_cache(c_string(path))


def cache_fault():
    """Say why the folder that FLASHMETAL_CACHE_DIR names keeps nothing; None when it does."""
    return take_text(control().cache_fault())


def cache_folder():
    """Give the folder of the compiled kernels; None when the environment names none."""
    return take_text(control().cache())


def compiler():
    """Give what the compiler of kernels calls itself; None when there is no usable one."""
    cdef const hm_control *table = control()
    cdef char *text
    with nogil:
        text = table.compiler()
    return take_text(text)


def compile_count():
    """Count the runs of the compiler since the start."""
    return control().compile_count()


def multiply_adds(threads=1):
    """Measure the CPU's f32 multiply-adds, as the native engine does them, in GFLOP/s.

    Parameters
    ----------
    threads : int
        At work side by side, at most 1,024.

    Returns
    -------
    float
        Operations of all threads together; a multiply-add is two.
    """
    cdef uint32_t count = to_integer(threads, 1, MOST_THREADS, "multiply_adds", "threads")
    cdef const hm_control *table = control()
    cdef double rate
    with nogil:
        rate = table.multiply_adds(count)
    return rate


def read_rate(memory, threads=1):
    """Measure how fast the CPU reads some memory again and again, in GB/s.

    Parameters
    ----------
    memory : object with the buffer protocol
        Contiguous, e.g. a NumPy array; some KiB a thread at least.
    threads : int
        At work side by side, each on its own part; at most 1,024.

    Returns
    -------
    float
        Of all threads together.
    """
    cdef uint32_t count = to_integer(threads, 1, MOST_THREADS, "read_rate", "threads")
    cdef const hm_control *table = control()
    cdef Py_buffer view
    cdef double rate
    PyObject_GetBuffer(memory, &view, PyBUF_SIMPLE)
    with nogil:
        rate = table.read_rate(view.buf, <size_t>view.len, count)
    size = view.len
    PyBuffer_Release(&view)
    if rate == 0:
        raise InvalidArgument(f"read_rate: memory holds {size} bytes, too few for {count} threads")
    return rate


cdef take_text(char *text):
    # None for NULL; frees the text.
    if text == NULL:
        return None
    try:
        return os.fsdecode(<bytes>text)
    finally:
        free(text)


cdef const char *c_string(bytes text) noexcept:
    # NULL for None; the bytes object keeps the text.
    if text is None:
        return NULL
    return text
