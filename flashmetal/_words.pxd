from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release
from libc.stdint cimport UINT32_MAX, uint32_t
from libc.string cimport memcpy

from flashmetal._integer cimport quick_integer


cdef extern from "Python.h":
    # A try around every call would cost as much as the call.
    int get_buffer "PyObject_GetBuffer"(object exporter, Py_buffer *view, int flags) noexcept


# Of a parameter struct's fields; `subject` and `field` name them in errors.
cdef inline uint32_t to_u32(object value, str subject, str field) except? 0xFFFFFFFF:
    return <uint32_t>quick_integer(value, 0, UINT32_MAX, subject, field)


# The f32's bits; of 1/√head_dim where the scale is None.
cdef uint32_t to_scale_bits(object scale, uint32_t head_dim, str subject) except? 0
cdef float scale_of(uint32_t bits) noexcept

cdef bytes to_bytes(const uint32_t *words, size_t count)
# With the exception of get_buffer set.
cdef int refuse_buffer(str subject) except -1
# Where in the view the words may be written.
cdef Py_ssize_t find_place(const Py_buffer *view, Py_ssize_t size, object offset,
                           str subject) except -1


# Writes the words into an object of the buffer protocol.
cdef inline int write_words(const uint32_t *words, size_t count, object buffer, object offset,
                            str subject) except -1:
    cdef Py_buffer view
    cdef Py_ssize_t size = count * sizeof(uint32_t)
    cdef Py_ssize_t start = 0
    if get_buffer(buffer, &view, PyBUF_WRITABLE) < 0:
        return refuse_buffer(subject)
    try:
        # The default, which is one object, needs no conversion.
        if offset is not 0 or view.len < size:
            start = find_place(&view, size, offset, subject)
        memcpy(<char *>view.buf + start, words, size)
    finally:
        PyBuffer_Release(&view)
    return 0
