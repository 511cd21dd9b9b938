from flashmetal._device cimport Device


cdef enum Growth:
    FIXED
    GROW
    RING


# The rows of one layer: keys, then values, in one allocation.
cdef struct Layer:
    size_t capacity      # rows
    size_t side          # bytes of the keys, and of the values
    size_t total         # rows appended since the last reset, less what was cut off
    size_t readable      # rows that work in flight may be reading


cdef class KVCache:
    cdef readonly Device device           # kept alive
    cdef readonly int n_kv_heads
    cdef readonly int head_dim
    cdef Growth growth_kind
    cdef size_t row_elements              # of keys, as of values
    cdef int layer_count
    cdef Layer *layers                    # owned
    cdef list allocations                 # one of each layer
    cdef bint busy                        # a thread is appending
    cdef object __weakref__
