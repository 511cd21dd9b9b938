from libc.stdint cimport uint64_t

from flashmetal._bridge cimport fm_device, fm_device_info

cdef enum:
    MOST_THREADS = 1024  # of the CPU: a system may give no more, or no stacks for them


cdef class Device:
    cdef fm_device *handle            # owned; NULL never after __init__
    cdef fm_device_info info
    cdef readonly uint64_t registry_id
    cdef readonly object checks       # host Metal: as asked for
    cdef object __weakref__


# What makes objects of a device, set by the modules that have it, which need this one.
cdef object (*alloc_function)(Device device, object shape, object dtype)
cdef object (*wrap_function)(Device device, object obj, object copy, object strict)
cdef object (*encoder_function)(Device device, object label)
