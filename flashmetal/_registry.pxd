from flashmetal._bridge cimport fm_pipeline, fm_pipeline_info
from flashmetal._device cimport Device


cdef class Pipeline:
    cdef fm_pipeline *handle              # owned
    cdef const fm_pipeline_info *info     # inside the handle
    cdef readonly str name                # base name, as registered
    cdef readonly Device device           # kept alive
    cdef object __weakref__


cdef class KernelRegistry:
    cdef readonly Device device           # kept alive
    cdef dict sources                     # name -> registered source
    cdef dict pipelines                   # (name, constants) -> Pipeline
    cdef dict probes                      # name -> bool: verdicts of probe_optional_pipeline
    cdef object lock
    cdef object __weakref__

    cdef Pipeline find_pipeline(self, str name)
