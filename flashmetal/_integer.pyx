"""Conversion of Python integers to C, exact or refused."""

from cpython.long cimport PyLong_AsLongLongAndOverflow

from flashmetal.errors import InvalidArgument, InvalidType


cdef long long to_integer(object value, long long low, long long high, str subject,
                          str what) except? -1:
    # Parts of the text come apart, so that nothing is formatted for a value that is fine.
    cdef int overflow = 0
    cdef long long number = 0
    try:
        number = PyLong_AsLongLongAndOverflow(value, &overflow)
    except TypeError:
        raise out_of_range(InvalidType, value, low, high, subject, what) from None
    if overflow or number < low or number > high:
        raise out_of_range(InvalidArgument, value, low, high, subject, what)
    return number


cdef object out_of_range(type error, object value, long long low, long long high, str subject,
                         str what):
    return error(f"{subject}: {what} must be an integer from {low} to {high}, got {value!r}")
