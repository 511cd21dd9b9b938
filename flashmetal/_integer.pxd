cdef extern from "Python.h":
    bint PyLong_CheckExact(object value) noexcept
    # Raises nothing for an exact int.
    long long exact_integer "PyLong_AsLongLongAndOverflow"(object value, int *overflow) noexcept


cdef long long to_integer(object value, long long low, long long high, str subject,
                          str what) except? -1


# The same, in place for ints: for what is called in every decode step.
cdef inline long long quick_integer(object value, long long low, long long high, str subject,
                                    str what) except? -1:
    cdef int overflow = 0
    cdef long long number
    if PyLong_CheckExact(value):
        number = exact_integer(value, &overflow)
        if low <= number <= high and not overflow:
            return number
    return to_integer(value, low, high, subject, what)
