# Raises InvalidType, naming function and argument, unless `value` is of the class. None is not.
cdef int need(object value, type kind, str subject, str what) except -1
# The same of str, and nothing that is derived from it.
cdef str need_text(object value, str subject, str what)
# Raises the exception that a C function has left set.
cdef int raise_pending() except -1
# Whether `value` is true; InvalidType unless it is a bool, NumPy's included, or 0 or 1.
cdef bint need_truth(object value, str subject, str what) except -1
