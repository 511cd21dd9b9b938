from libc.stdint cimport uint32_t


# Of a parameter struct's fields; `subject` and `field` name them in errors.
cdef uint32_t to_u32(object value, str subject, str field) except? 0
# The f32's bits; of 1/√head_dim where the scale is None.
cdef uint32_t to_scale_bits(object scale, uint32_t head_dim, str subject) except? 0
cdef float scale_of(uint32_t bits) noexcept

cdef bytes to_bytes(const uint32_t *words, size_t count)
# Writes the words into an object of the buffer protocol.
cdef int write_words(const uint32_t *words, size_t count, object buffer, object offset,
                     str subject) except -1
