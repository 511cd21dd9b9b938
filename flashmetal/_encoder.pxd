from flashmetal._bridge cimport fm_dispatch, fm_encoder
from flashmetal._device cimport Device


cdef class CommandEncoder:
    cdef fm_encoder *handle               # owned; NULL when discarded
    cdef readonly Device device           # kept alive
    cdef bytes label_bytes                # UTF-8, or None
    cdef bint busy                        # a thread is encoding or committing
    cdef readonly long long dispatch_count
    cdef readonly long long barrier_count
    cdef object __weakref__

    # Around everything that encodes or commits: refuses a second thread, and use after the end.
    cdef int enter(self) except -1
    cdef void leave(self) noexcept
    # Between enter and leave, what the caller has checked.
    cdef int encode(self, const fm_dispatch *dispatch) except -1
