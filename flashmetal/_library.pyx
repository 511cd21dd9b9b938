"""Libraries of compiled kernels: from source text, or precompiled from a file."""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from flashmetal._bridge cimport (
    check, check_not_forked, fm_compile_options, fm_error, fm_library, fm_macro, fm_math_mode,
    library_compile, library_copy_constants, library_copy_names, library_open, library_release,
)
from flashmetal._device cimport Device

from flashmetal.compile_options import MATH_MODES
from flashmetal.errors import InvalidArgument

__all__ = ["Library"]

cdef object KEY = object()  # without it, nobody makes objects that have no handle


cdef class Library:
    """Compiled kernels, of which pipelines are made. KernelRegistry keeps them."""

    def __cinit__(self, key=None):
        if key is not KEY:
            raise InvalidArgument("libraries are made by KernelRegistry.register_source")

    def __dealloc__(self):
        library_release(self.handle)


cdef Library compile_library(Device device, str name, bytes source, object options):
    cdef list macros = [(key.encode(), value.encode()) for key, value in options.macros]
    cdef fm_macro *macro_array = NULL
    cdef fm_compile_options c_options
    c_options.language_version = <uint32_t>options.packed_version
    c_options.math_mode = <fm_math_mode>(<int>MATH_MODES.index(options.math_mode))
    c_options.macro_count = len(macros)
    try:
        macro_array = make_macro_array(macros)
        c_options.macros = macro_array
        return compile_with(device, name.encode(), source, &c_options)
    finally:
        free(macro_array)


cdef fm_macro *make_macro_array(list macros) except NULL:
    # The texts stay owned by the list.
    cdef fm_macro *array = <fm_macro *>malloc((len(macros) + 1) * sizeof(fm_macro))
    if array is NULL:
        raise MemoryError
    for i, (key, value) in enumerate(macros):
        array[i].name = <bytes>key
        array[i].value = <bytes>value
    return array


cdef Library compile_with(Device device, bytes name, bytes source,
                          const fm_compile_options *options):
    cdef fm_library *handle = NULL
    cdef fm_error error
    cdef const char *c_name = name
    cdef const char *text = source
    cdef size_t length = len(source)
    error.message = NULL
    check_not_forked()
    with nogil:
        check(library_compile(device.handle, text, length, options, &handle, &error), &error,
              c_name)
    return adopt(device, handle)


cdef Library open_library(Device device, str name, str path):
    cdef fm_library *handle = NULL
    cdef fm_error error
    cdef bytes name_bytes = name.encode()
    cdef bytes path_bytes = path.encode()
    cdef const char *c_name = name_bytes
    cdef const char *c_path = path_bytes
    error.message = NULL
    check_not_forked()
    with nogil:
        check(library_open(device.handle, c_path, &handle, &error), &error, c_name)
    return adopt(device, handle)


cdef list names_in(Library library):
    cdef char *text
    with nogil:
        text = library_copy_names(library.handle)
    if text is NULL:
        raise MemoryError
    try:
        return text.decode("utf-8").splitlines()
    finally:
        free(text)


cdef str constants_in(Library library, str kernel):
    cdef bytes encoded = b"" if kernel is None else kernel.encode()
    cdef const char *function = encoded
    cdef char *text
    if kernel is None:
        function = NULL
    check_not_forked()
    with nogil:
        text = library_copy_constants(library.handle, function)
    if text is NULL:
        raise MemoryError
    try:
        return text.decode("utf-8")
    finally:
        free(text)


cdef Library adopt(Device device, fm_library *handle):
    cdef Library library = Library.__new__(Library, KEY)
    library.handle = handle
    library.device = device
    return library
