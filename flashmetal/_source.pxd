from flashmetal._buffer cimport DTypeCode
from flashmetal._exporter cimport held_memory


# The memory of a Python object, with a type and a shape; its strides are in the held view.
cdef struct Source:
    held_memory *held    # owned: the caller lets go of it, or Metal does
    DTypeCode code
    Py_ssize_t length    # elements, where the exporter gives no shape
    const Py_ssize_t *shape
    int axis_count


# By the buffer protocol, or else by DLPack. Raises UnsupportedDtype, and InvalidArgument whose
# text starts with `argument`, which names function and argument.
cdef int open_source(Source *source, object obj, str argument) except -1
