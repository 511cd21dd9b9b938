from flashmetal._bridge cimport fm_dispatch, fm_encoder
from flashmetal._device cimport Device


cdef class CommandEncoder:
    cdef fm_encoder *handle               # owned
    cdef readonly Device device           # kept alive
    cdef object label_text                # str or None
    cdef readonly long long dispatch_count
    cdef readonly long long barrier_count
    cdef object __weakref__

    # What the caller has checked; makes the command buffer first when there is none.
    cdef int encode(self, const fm_dispatch *dispatch) except -1
