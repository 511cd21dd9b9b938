"""Pipeline: one kernel, compiled for one device and one set of function constants."""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from flashmetal._bridge cimport (
    FM_MAX_BUFFERS, check, check_not_forked, fm_constant, fm_constant_type, fm_error, fm_pipeline,
    fm_pipeline_info, pipeline_create, pipeline_get_info, pipeline_release,
)
from flashmetal._library cimport Library

from flashmetal.errors import InvalidArgument
from flashmetal.function_constant import SCALARS
from flashmetal.kernel_argument import KernelArgument

__all__ = ["Pipeline"]

cdef object KEY = object()  # without it, nobody makes objects that have no handle
cdef list CONSTANT_TYPES = list(SCALARS)


cdef class Pipeline:
    """A kernel that can be dispatched. KernelRegistry.get_pipeline makes and keeps them.

    Attributes
    ----------
    name : str
        As registered.
    device : Device
        Where it runs.
    """

    def __cinit__(self, key=None):
        if key is not KEY:
            raise InvalidArgument("pipelines are made by KernelRegistry.get_pipeline")

    def __dealloc__(self):
        pipeline_release(self.handle)

    def __repr__(self):
        constants = f" constants={self.constants}" if self.constant_items else ""
        return f"<flashmetal.Pipeline {self.name!r}{constants} on {self.device.name}>"

    @property
    def constants(self):
        """Function constants by index: Python's own numbers, tuples of them for vectors."""
        return {constant.index: constant.unpack(value) for constant, value in self.constant_items}

    @property
    def max_threads(self):
        """Most threads that a threadgroup may have."""
        return self.info.max_threads

    @property
    def simd_width(self):
        """Threads of a SIMD-group."""
        return self.info.simd_width

    @property
    def static_threadgroup_memory(self):
        """Bytes of threadgroup memory that the kernel itself declares."""
        return self.info.static_threadgroup_memory

    @property
    def arguments(self):
        """What the kernel takes: its buffers, then its threadgroup memory, by index."""
        return [
            *[buffer_argument(self.info, i) for i in range(FM_MAX_BUFFERS)
              if self.info.declared >> i & 1],
            *[KernelArgument("threadgroup", i, None, "writes", 0) for i in range(FM_MAX_BUFFERS)
              if self.info.threadgroup_declared >> i & 1],
        ]


cdef object buffer_argument(const fm_pipeline_info *info, int i):
    name = info.name[i].decode("utf-8") if info.name[i] != NULL else None
    used = info.used >> i & 1
    access = "unused" if not used else "writes" if info.writable >> i & 1 else "reads"
    return KernelArgument("buffer", i, name, access, info.size[i])


cdef Pipeline create_pipeline(Library library, str name, tuple constants):
    cdef fm_constant *array = <fm_constant *>malloc((len(constants) + 1) * sizeof(fm_constant))
    if array is NULL:
        raise MemoryError
    try:
        # The values stay owned by the tuple.
        for i, (constant, value) in enumerate(constants):
            array[i].index = <uint32_t>constant.index
            array[i].type = <fm_constant_type>(<int>CONSTANT_TYPES.index(constant.scalar))
            array[i].components = <uint32_t>constant.components
            array[i].value = <const char *><bytes>value
        handle = create_handle(library, name.encode(), array, len(constants))
    finally:
        free(array)
    cdef Pipeline pipeline = Pipeline.__new__(Pipeline, KEY)
    pipeline.handle = handle
    pipeline.info = pipeline_get_info(handle)
    pipeline.name = name
    pipeline.device = library.device
    pipeline.constant_items = constants
    return pipeline


cdef fm_pipeline *create_handle(Library library, bytes name, const fm_constant *constants,
                                size_t count) except NULL:
    cdef fm_pipeline *handle = NULL
    cdef fm_error error
    cdef const char *c_name = name
    error.message = NULL
    check_not_forked()
    with nogil:
        check(pipeline_create(library.device.handle, library.handle, c_name, constants, count,
                              &handle, &error), &error, c_name)
    return handle
