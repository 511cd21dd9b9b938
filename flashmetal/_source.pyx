"""The memory of an object that exports it, with its element type and shape."""

from cpython.buffer cimport Py_buffer, PyObject_CheckBuffer

from flashmetal._argument cimport raise_pending
from flashmetal._buffer cimport DTypeCode, code_of_letter, dtype_code
from flashmetal._dlpack cimport hold_tensor
from flashmetal._exporter cimport hold, let_go

import numpy as np

from flashmetal.dtype import name_of, name_of_dlpack, name_of_format, without_bfloat16
from flashmetal.errors import InvalidArgument, InvalidType, UnsupportedDtype

__all__ = []


cdef int open_source(Source *source, object obj, str argument) except -1:
    # No try statement where nothing is out of the ordinary: it costs as much as the rest.
    cdef const Py_buffer *view
    source.held = hold(obj)
    if source.held == NULL:
        return open_otherwise(source, obj, argument)
    view = &source.held.view
    source.code = <DTypeCode>code_of_letter(view.format, view.itemsize)
    if <int>source.code < 0 or view.len == 0 or view.shape == NULL:
        return describe_or_let_go(source, obj, argument, False)
    source.shape = view.shape
    source.axis_count = view.ndim
    return 0


cdef int open_otherwise(Source *source, object obj, str argument) except -1:
    try:
        raise_pending()
    except (BufferError, TypeError, ValueError) as error:
        if has_tensor(obj):
            return open_tensor(source, obj, argument)
        exporter, is_bfloat16 = without_bfloat16(obj)
        if not is_bfloat16:
            raise refused_export(obj, argument, error) from error
    source.held = hold(exporter)
    if source.held == NULL:
        raise_pending()
    return describe_or_let_go(source, obj, argument, True)


cdef bint has_tensor(object obj):
    # NumPy's own refusals say more than those of its DLPack. A class has no memory.
    return hasattr(obj, "__dlpack__") and not isinstance(obj, (np.ndarray, type))


cdef int open_tensor(Source *source, object obj, str argument) except -1:
    cdef int code = 0
    cdef int bits = 0
    source.held = hold_tensor(obj, argument, &code, &bits)
    try:
        source.code = dtype_code(name_of_dlpack(code, bits))
        fill_shape(source)
    except BaseException:
        let_go(source.held)
        raise
    return 0


cdef int describe_or_let_go(Source *source, object obj, str argument,
                            bint is_bfloat16) except -1:
    try:
        return describe(source, obj, is_bfloat16)
    except UnsupportedDtype:
        let_go(source.held)
        # Some libraries have formats of their own, but DLPack's types.
        if not has_tensor(obj):
            raise
    except BaseException:
        let_go(source.held)
        raise
    return open_tensor(source, obj, argument)


cdef object refused_export(object obj, str argument, object error):
    if not PyObject_CheckBuffer(obj):
        return InvalidType(
            f"{argument} must have the buffer protocol or DLPack, and "
            f"{type(obj).__name__} has neither; numpy.asarray makes an array of most objects"
        )
    # NumPy has no format for some of its types.
    if isinstance(obj, np.ndarray):
        name_of(obj.dtype)
    return InvalidArgument(f"{argument}: {type(obj).__name__} does not export its memory: {error}")


cdef int describe(Source *source, object obj, bint is_bfloat16) except -1:
    cdef const Py_buffer *view = &source.held.view
    source.code = dtype_code("bf16" if is_bfloat16 else name_elements(obj, view))
    return fill_shape(source)


cdef int fill_shape(Source *source) except -1:
    cdef const Py_buffer *view = &source.held.view
    if view.len == 0:
        raise InvalidArgument("Buffer byte length must be > 0")
    source.axis_count = view.ndim
    source.shape = view.shape
    if view.ndim and view.shape == NULL:
        source.length = view.len // view.itemsize
        source.axis_count = 1
        source.shape = &source.length
    return 0


cdef str name_elements(object exporter, const Py_buffer *view):
    text = "B" if view.format == NULL else view.format.decode()
    try:
        return name_of_format(text, view.itemsize)
    except UnsupportedDtype:
        # An array's own spelling says more than a format.
        if isinstance(exporter, np.ndarray):
            name_of(exporter.dtype)
        raise
