cdef long long to_integer(object value, long long low, long long high, str subject,
                          str what) except? -1
