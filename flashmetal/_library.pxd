from flashmetal._bridge cimport fm_library
from flashmetal._device cimport Device


cdef class Library:
    cdef fm_library *handle               # owned
    cdef Device device                    # kept alive


cdef Library compile_library(Device device, str name, bytes source, object options)
cdef list names_in(Library library)
# Function constants as fm_library_copy_constants prints them; of all kernels when None.
cdef str constants_in(Library library, str kernel)
cdef Library open_library(Device device, str name, str path)
