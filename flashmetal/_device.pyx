# cython: binding=False, embedsignature=True, embedsignature.format=clinic
# Functions of Python's own kind are called faster.
"""The device: a Metal GPU, or on Linux the host device, and its command queue."""

from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, UINT32_MAX
from libc.string cimport memset

from flashmetal._argument cimport need_truth
from flashmetal._bridge cimport (
    check,
    check_not_forked,
    device_create,
    device_get_info,
    device_release,
    fm_device_options,
    fm_error,
    fm_status,
)
from flashmetal._integer cimport to_integer

from flashmetal import _host
from flashmetal.errors import InvalidArgument, InvalidType

__all__ = ["Device"]

ENGINES = ("auto", "simt", "native")
ORDERS = ("highest", "lowest", "random")
CHECKS = (False, True, "strict")


cdef class Device:
    """A Metal device and its command queue.

    Only the host device takes options: they imitate other machines. The same options give devices
    that are equal, different options different ones.

    Parameters
    ----------
    engine : {"auto", "simt", "native"}
        What runs kernels: "simt" executes the shader itself, "native" the hand-vectorised
        equivalents of the shipped kernels and refuses pipelines of others, "auto" the equivalent
        where there is one and else the shader.
    threads : int, optional
        CPU threads that run threadgroups, at most 1,024; as many as the process has processors by
        default.
    tensor_api : bool
        False imitates a system without `<metal_tensor>`.
    max_threads : int, optional
        The most threads per threadgroup of every pipeline.
    order : {"highest", "lowest", "random"}
        Which SIMD-group and lane runs first where Metal leaves it open.
    seed : int
        Of the random order.
    checks : bool or "strict"
        Whether what kernels do to memory is checked, which needs engine="simt" and makes them many
        times slower. An access outside its buffer, a race between threads, threadgroups or
        dispatches, and threadgroup memory that is read before it is written end the command buffer
        with an error that names kernel, threads, argument and byte. Threads of one SIMD-group are
        taken to run in lockstep, and a write that changes nothing for no race; "strict" asks for a
        barrier there, too, and for one of device memory, or a fence, beside atomics that order.
    timeout : float, optional
        Seconds that a command buffer may run: a kernel that never ends, and a wait for an event
        that never comes, then end it with a CommandBufferError of kind "timeout", which names
        kernel, thread and line. As the environment variable FLASHMETAL_TIMEOUT says by default, or
        without a limit, as is `math.inf`.

    Attributes
    ----------
    registry_id : int
        Metal's number of the device, by which errors name it; the same for equal devices.

    Raises
    ------
    DeviceNotFound
        There is no Metal device.
    InvalidArgument
        An option has a value that no device takes.
    UnsupportedFeature
        An option other than the default on Apple's Metal.
    InvalidState
        The process was forked after it had made a device.

    Warns
    -----
    CacheWarning
        Once, when FLASHMETAL_CACHE_DIR names a folder that cannot keep compiled kernels.
    """

    def __cinit__(self, engine="auto", threads=None, tensor_api=True, max_threads=None,
                  order="highest", seed=0, checks=False, timeout=None):
        cdef fm_device_options options
        cdef fm_error error
        cdef fm_status status
        check_not_forked()
        engine_text = require_choice("engine", engine, ENGINES).encode()
        order_text = require_choice("order", order, ORDERS).encode()
        memset(&options, 0, sizeof(options))
        memset(&error, 0, sizeof(error))
        if engine != "auto":
            options.engine = engine_text
        if order != "highest":
            options.order = order_text
        if threads is not None:
            options.threads = to_integer(threads, 1, MOST_THREADS, "Device", "threads")
        if max_threads is not None:
            options.max_threads = to_integer(max_threads, 1, UINT32_MAX, "Device",
                                             "max_threads")
        options.no_tensor_api = not need_truth(tensor_api, "Device", "tensor_api")
        require_checks(checks, engine)
        if checks is not False:
            options.checks = b"strict" if checks == "strict" else b"on"
        if timeout is not None:
            options.timeout = to_timeout(timeout)
        options.seed = to_integer(seed, 0, INT64_MAX, "Device", "seed")
        _host.prepare()
        with nogil:
            status = device_create(&options, &self.handle, &error)
            check(status, &error, NULL)
            device_get_info(self.handle, &self.info)
        self.registry_id = self.info.registry_id
        self.checks = checks
        _host.warn_of_cache()

    def __dealloc__(self):
        with nogil:
            device_release(self.handle)

    def __repr__(self):
        return f"Device(name={self.name!r}, registry_id={self.registry_id:#x})"

    def __eq__(self, other):
        if not isinstance(other, Device):
            return NotImplemented
        return self.registry_id == (<Device>other).registry_id

    def __hash__(self):
        return hash(self.registry_id)

    def alloc(self, shape, dtype):
        """Allocate a buffer of zeros.

        Parameters
        ----------
        shape : int or sequence of int
            Elements along each axis.
        dtype : str or NumPy dtype
            The element type: f32, f16, bf16, u8, u16, u32 or i32.

        Returns
        -------
        Buffer
            In shared, page-aligned memory of its own.

        Raises
        ------
        InvalidArgument
            A dimension is no integer, is negative or is 0.
        UnsupportedDtype
            Another element type.
        BufferAllocationError
            Metal refuses a buffer of this length.
        """
        if alloc_function == NULL:
            import flashmetal._buffer  # noqa: F401
        return alloc_function(self, shape, dtype)

    def wrap(self, obj, copy=False, strict=False):
        """Use an object's memory as a buffer, in place.

        Parameters
        ----------
        obj : object with the buffer protocol or DLPack
            C-contiguous and in native byte order, e.g. a NumPy array; it is held until the last
            handle and the last command buffer that use its memory are done. Memory inside a live
            buffer gives a view of that buffer.
        copy : bool, optional
            False never copies, True always does, None copies where the memory cannot be used in
            place. A copy, as read-only memory, is refused as an output.
        strict : bool
            Whether address and length must be whole pages of the device.

        Returns
        -------
        Buffer
            With the object's dtype and shape.

        Raises
        ------
        InvalidArgument
            The memory cannot be used in place; the text names the address, the rule and the ways
            out.
        UnsupportedDtype
            Another element type or byte order.
        BufferAllocationError
            Metal refuses the memory.
        """
        if wrap_function == NULL:
            import flashmetal._wrap  # noqa: F401
        return wrap_function(self, obj, copy, strict)

    def encoder(self, label=None):
        """Make an encoder: one command buffer, made on the first dispatch.

        Parameters
        ----------
        label : str, optional
            Names the work in errors and in Metal's tools.

        Returns
        -------
        CommandEncoder
        """
        if encoder_function == NULL:
            import flashmetal._encoder  # noqa: F401
        return encoder_function(self, label)

    @property
    def name(self):
        """The name Metal gives the device."""
        return self.info.name.decode("utf-8", "replace")

    @property
    def engine(self):
        """What runs kernels on the host device, as asked for; "" on Apple's Metal."""
        return self.info.engine.decode()

    @property
    def threads(self):
        """CPU threads of the host device; 0 on Apple's Metal."""
        return self.info.threads

    @property
    def page_size(self):
        """Bytes; memory is used in place in whole pages."""
        return self.info.page_size

    @property
    def max_buffer_length(self):
        """The most bytes of one buffer."""
        return self.info.max_buffer_length

    @property
    def max_threadgroup_memory(self):
        """The most bytes of threadgroup memory, static and dynamic together."""
        return self.info.max_threadgroup_memory

    @property
    def max_threads_per_threadgroup(self):
        """The most threads of one threadgroup."""
        return self.info.max_threads_per_threadgroup

    @property
    def language_version(self):
        """The newest version of the Metal shading language, as (major, minor)."""
        return self.info.language_version >> 16, self.info.language_version & 0xFFFF

    @property
    def is_host(self):
        """Whether this is the host device, which runs kernels on the CPU."""
        return self.info.is_host

    @property
    def unified_memory(self):
        """Whether CPU and GPU share memory."""
        return self.info.unified_memory


cdef double to_timeout(timeout) except -1:
    cdef double seconds = 0
    try:
        seconds = timeout
    except TypeError:
        raise InvalidType(
            f"Device: timeout must be seconds, or None, got {type(timeout).__name__}"
        ) from None
    except OverflowError:
        seconds = INFINITY
    # Written so that NaN fails it, too.
    if not seconds > 0:
        raise InvalidArgument(f"Device: timeout must be seconds, more than 0, got {timeout!r}")
    return seconds


cdef require_checks(checks, engine):
    if not any(checks is choice or (isinstance(checks, str) and checks == choice)
               for choice in CHECKS):
        raise InvalidArgument(
            f"Device: checks must be False, True or 'strict', got {checks!r}"
        )
    if checks is not False and engine != "simt":
        raise InvalidArgument(
            f"Device: checks={checks!r} needs engine='simt', which runs the shader itself, got "
            f"engine={engine!r}"
        )


cdef require_choice(str argument, value, tuple choices):
    if not isinstance(value, str) or value not in choices:
        raise InvalidArgument(
            f"Device: {argument} must be one of {', '.join(choices)}, got {value!r}"
        )
    return value
