from flashmetal._device cimport Device
from flashmetal._library cimport Library
from flashmetal._pipeline cimport Pipeline


cdef class Program:
    # A source text with its options; all names registered with them share it and its library.
    cdef object __weakref__
    cdef readonly tuple key               # (SHA-256 of the text, options)
    cdef bytes text                       # UTF-8
    cdef object options                   # CompileOptions
    cdef tuple origin                     # the source with its includes, and the headers
    cdef dict libraries                   # path of a precompiled one or None -> Once of a Library
    cdef dict tables                      # kernel -> ConstantTable

    cdef tuple pack_constants(self, Device device, str name, tuple pairs)
    cdef Library get_library(self, Device device, str name, tuple constants)


cdef class RegisteredKernel:
    # What a name stands for until another text or other options are registered under it.
    cdef Program program
    cdef dict pipelines                   # constants as ConstantTable.pack has them -> Once
    cdef dict by_spelling                 # constants as callers spell them -> Pipeline
    cdef Pipeline plain                   # the one without constants, or None
    cdef object available                 # verdict of probe_optional_pipeline, or None
    cdef object probe_lock


cdef class KernelRegistry:
    cdef readonly Device device           # kept alive
    cdef dict kernels                     # name -> RegisteredKernel
    cdef object headers                   # RegisteredHeaders, for sources registered later
    cdef object programs                  # Program.key -> Program, as long as a name uses it
    cdef object lock                      # of programs
    cdef object __weakref__

    # The pipeline without constants, compiled if need be.
    cdef Pipeline find_pipeline(self, str name)
    cdef RegisteredKernel find_kernel(self, str name)
    cdef Pipeline make_once(self, RegisteredKernel kernel, str name, tuple constants)
    cdef int check_device(self, Device device) except -1
