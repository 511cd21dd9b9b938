from libc.stdint cimport uint64_t

from flashmetal._bridge cimport fm_device, fm_device_info


cdef class Device:
    cdef fm_device *handle            # owned; NULL never after __init__
    cdef fm_device_info info
    cdef readonly uint64_t registry_id
    cdef bint tensor_api              # host Metal: not switched off by option
    cdef object __weakref__
