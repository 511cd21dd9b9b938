"""Checks of arguments by their class: a wrong one is refused by its name, whatever it is."""

from flashmetal.errors import InvalidType

import numpy as np

__all__ = []

# The default of what a constructor needs: refused by its name like all that it cannot be. Without a
# default Cython would say how many arguments there are.
MISSING = type("nothing", (), {"__repr__": lambda self: "nothing"})()


cdef int need(object value, type kind, str subject, str what) except -1:
    if not isinstance(value, kind):
        raise InvalidType(
            f"{subject}: {what} must be {kind.__name__}, got {type(value).__name__}"
        )
    return 0


cdef str need_text(object value, str subject, str what):
    # A class of its own may say other letters than it holds.
    if type(value) is not str:
        raise InvalidType(f"{subject}: {what} must be str, got {type(value).__name__}")
    return value


cdef bint need_truth(object value, str subject, str what) except -1:
    # Not by bool(): "no" is true, and an array neither.
    if value is True or value is False:
        return value is True
    if isinstance(value, np.bool_) or (type(value) is int and value in (0, 1)):
        return bool(value)
    raise InvalidType(f"{subject}: {what} must be True or False, got {value!r}")


cdef int raise_pending() except -1:
    return -1
