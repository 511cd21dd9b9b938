from flashmetal._bridge cimport fm_pipeline, fm_pipeline_info
from flashmetal._device cimport Device
from flashmetal._library cimport Library


cdef class Pipeline:
    cdef fm_pipeline *handle              # owned
    cdef const fm_pipeline_info *info     # inside the handle
    cdef readonly str name                # base name, as registered
    cdef readonly Device device           # kept alive
    cdef tuple constant_items             # of ConstantTable.pack
    cdef object __weakref__


cdef Pipeline create_pipeline(Library library, str name, tuple constants)
