"""KernelRegistry: sources by name, and the pipelines compiled from them."""

import functools
import hashlib
import threading
import weakref

from flashmetal._argument cimport need, need_text
from flashmetal._device cimport Device
from flashmetal._integer cimport to_integer
from flashmetal._library cimport Library, compile_library, constants_in, names_in, open_library
from flashmetal._pipeline cimport Pipeline, create_pipeline

from flashmetal._argument import MISSING
from flashmetal._once import Once
from flashmetal._text import to_utf8
from flashmetal.compile_options import CompileOptions
from flashmetal.errors import (
    FlashMetalError, InvalidArgument, InvalidType, KernelNotFound, ShaderCompilationError,
)
from flashmetal.function_constant import ConstantTable
from flashmetal.headers import RegisteredHeaders, expand, explain_missing
from flashmetal.shipped import find_library

__all__ = ["KernelRegistry", "is_unavailable_tensor_header", "misses_header"]

cdef enum:
    LARGEST_CONSTANT_INDEX = 65535


cdef class KernelRegistry:
    """Kernels of one device: MSL sources by kernel name, compiled when first asked for.

    May be used from any thread. Threads that ask for the same kernel at once compile it once, and
    hold up nobody who asks for another.

    Parameters
    ----------
    device
        Where the kernels run.

    Attributes
    ----------
    device : Device
        The same.
    """

    def __cinit__(self, device=MISSING):
        need(device, Device, "KernelRegistry", "device")
        self.device = device
        self.kernels = {}
        self.headers = RegisteredHeaders({})
        self.programs = weakref.WeakValueDictionary()
        self.lock = threading.Lock()

    def __repr__(self):
        return f"<flashmetal.KernelRegistry of {self.source_count} kernels on {self.device.name}>"

    def register_source(self, name, source, *, options=None):
        """Let `name` stand for the kernel function of that name in `source`.

        The same text and options again change nothing. Others replace what was registered, and
        forget the name's pipelines and probe verdicts; pipelines that are in use stay valid.

        Parameters
        ----------
        name
            Of the kernel function.
        source
            MSL. Several kernels of one text are registered one by one; it is compiled once.
            It may include the headers registered so far.
        options
            How to compile it; ``CompileOptions()`` when None.

        Raises
        ------
        InvalidArgument
            When the name is empty or has a NUL character, name or text is not valid Unicode, or
            the options are not CompileOptions.
        """
        need_text(name, "register_source", "name")
        need_text(source, "register_source", "source")
        if not name:
            raise InvalidArgument("a kernel's name must not be empty")
        to_utf8(name, "a kernel's name")
        if options is None:
            options = CompileOptions()
        elif not isinstance(options, CompileOptions):
            raise InvalidType(
                f"{name}: options must be flashmetal.CompileOptions, got {type(options).__name__}"
            )
        headers = self.headers
        expanded = expand(source, headers) if headers.registered else source
        cdef Program program = self._share_program(Program(name, expanded, options))
        program.origin = (source, headers)
        cdef RegisteredKernel current = self.kernels.get(name)
        if current is None or current.program is not program:
            self.kernels[name] = RegisteredKernel(program)

    def register_header(self, name, text):
        """Let sources that are registered from now on include `text` as ``#include "name"``.

        A header may include others, in whatever order they are registered. Names are paths: in
        quotes, a header's are looked up beside the header first, as compilers do, so that
        "a/b.h" finds "a/d.h" as "d.h". Another text replaces the one before, for sources
        registered later.

        Parameters
        ----------
        name
            As it stands between the quotes or angle brackets, e.g. "kernels/utils.h".
        text
            MSL.

        Raises
        ------
        InvalidArgument
            When the name is empty or holds a quote, an angle bracket or a line's end.
        """
        need_text(name, "register_header", "name")
        need_text(text, "register_header", "text")
        if not name or any(c in name for c in '">\n\0'):
            raise InvalidArgument(f"a header's name must be as #include takes it, got {name!r}")
        # A new object: a thread that is registering a source goes on with the one that it read.
        with self.lock:
            self.headers = RegisteredHeaders({**self.headers.registered, name: text})

    def _share_program(self, Program program):
        with self.lock:
            return self.programs.setdefault(program.key, program)

    def get_pipeline(self, name, constants=None, *, device=None):
        """Return the pipeline of a registered kernel; compile it on the first call.

        Parameters
        ----------
        name
            As registered.
        constants
            Function constants by index or name, in any order: bool, int or float, NumPy's scalars,
            and tuples or arrays of them for vectors. They become what the text declares: `True`
            and 1 are the same for an ``int``. Those that this kernel does not use but the text
            declares are fine: Metal knows of those that any of the text's kernels uses.
        device
            Where the caller wants to run it; checked against the registry's.

        Returns
        -------
        Pipeline
            The same object on every call with the same name and constants.

        Raises
        ------
        InvalidArgument
            When `device` is another device, the text declares no such constant, or a constant's
            type cannot hold the value.
        KernelNotFound
            When no source is registered under the name.
        ShaderCompilationError
            When the source does not compile, has no such kernel, or Metal makes no pipeline of it.
            It is not remembered: the next call tries again.
        """
        need_text(name, "get_pipeline", "name")
        if device is not None:
            need(device, Device, "get_pipeline", "device")
            self.check_device(device)
        if constants is None:
            return self.find_pipeline(name)
        cdef RegisteredKernel kernel = self.find_kernel(name)
        cdef tuple spelling = spell(constants)
        pipeline = kernel.by_spelling.get(spelling)
        if pipeline is None:
            packed = kernel.program.pack_constants(self.device, name, to_pairs(name, constants))
            pipeline = self.make_once(kernel, name, packed)
            if spelling is not None:
                kernel.by_spelling[spelling] = pipeline
        return pipeline

    def kernel_names(self, name):
        """Compile the text that is registered under a name, and list its kernels.

        Those are instances of templates by their host names. A kernel with function constants may
        still need values for them.

        Parameters
        ----------
        name
            As registered, whether or not the text has a kernel of this name.

        Returns
        -------
        list of str
            In the order of the text.

        Raises
        ------
        KernelNotFound
            When nothing is registered under the name.
        ShaderCompilationError
            When the source does not compile.
        """
        cdef RegisteredKernel kernel = self.find_kernel(need_text(name, "kernel_names", "name"))
        return names_in(kernel.program.get_library(self.device, name, ()))

    def function_constants(self, name):
        """Compile the text that is registered under a name, and list its function constants.

        Parameters
        ----------
        name
            As registered, whether or not the text has a kernel of this name.

        Returns
        -------
        list of flashmetal.function_constant.FunctionConstant
            With index, type and name, in the order of the indices. On Apple's Metal, those that
            any of the text's kernels uses.

        Raises
        ------
        KernelNotFound
            When nothing is registered under the name.
        ShaderCompilationError
            When the source does not compile.
        """
        need_text(name, "function_constants", "name")
        cdef RegisteredKernel kernel = self.find_kernel(name)
        library = kernel.program.get_library(self.device, name, ())
        return ConstantTable(constants_in(library, None), whole=True).constants

    cdef Pipeline find_pipeline(self, str name):
        cdef RegisteredKernel kernel = self.find_kernel(name)
        if kernel.plain is None:
            kernel.plain = self.make_once(kernel, name, ())
        return kernel.plain

    cdef RegisteredKernel find_kernel(self, str name):
        kernel = self.kernels.get(name)
        if kernel is None:
            raise KernelNotFound(name)
        return kernel

    cdef Pipeline make_once(self, RegisteredKernel kernel, str name, tuple constants):
        once = kernel.pipelines.get(constants)
        if once is None:
            once = kernel.pipelines.setdefault(constants, Once())
        if once.value is not None:
            return once.value
        return once.get(functools.partial(self._make, kernel.program, name, constants))

    def _make(self, Program program, str name, tuple constants):
        pairs = tuple([(constant.index, constant.unpack(value)) for constant, value in constants])
        library = program.get_library(self.device, name, pairs)
        return create_pipeline(library, name, constants)

    def probe_optional_pipeline(self, name, unavailable, *, device=None):
        """Find out whether the device can run a kernel that not every system compiles.

        Parameters
        ----------
        name
            As registered.
        unavailable
            Called with the FlashMetalError of a failure; true when it means that the system lacks
            what the kernel needs, e.g. `is_unavailable_tensor_header`.
        device
            Where the caller wants to run it; checked against the registry's.

        Returns
        -------
        available : bool
            Whether there is a pipeline. Remembered until the name is registered anew.
        newly_probed : bool
            Whether this call found out.

        Raises
        ------
        InvalidArgument
            When `device` is another device.
        FlashMetalError
            Any failure that `unavailable` does not accept; it is not remembered.
        """
        need_text(name, "probe_optional_pipeline", "name")
        if device is not None:
            need(device, Device, "probe_optional_pipeline", "device")
            self.check_device(device)
        cdef RegisteredKernel kernel = self.find_kernel(name)
        with kernel.probe_lock:
            if kernel.available is not None:
                return kernel.available, False
            try:
                self.make_once(kernel, name, ())
                kernel.available = True
            except FlashMetalError as error:
                if not unavailable(error):
                    raise
                kernel.available = False
            return kernel.available, True

    def prewarm(self, names):
        """Compile the pipelines of these kernels, without constants, ahead of their first use.

        Parameters
        ----------
        names : iterable of str
            As registered.

        Raises
        ------
        InvalidType
            When it is no list of names.
        KernelNotFound, ShaderCompilationError
            As `get_pipeline` does; those before it are compiled then.
        """
        for name in to_names(names):
            self.get_pipeline(name)

    def is_cached(self, name, constants=None):
        """Whether `get_pipeline` with these arguments would return without compiling."""
        cdef RegisteredKernel kernel = self.kernels.get(need_text(name, "is_cached", "name"))
        if kernel is None:
            return False
        pairs = to_pairs(name, constants)
        table = kernel.program.tables.get(name)
        if pairs and (table is None or not table.covers([key for key, _ in pairs])):
            return False
        once = kernel.pipelines.get(table.pack(pairs, name) if pairs else ())
        return once is not None and once.value is not None

    @property
    def cached_count(self):
        """Pipelines that are compiled and kept."""
        cdef RegisteredKernel kernel
        count = 0
        for kernel in list(self.kernels.values()):
            count += sum([once.value is not None for once in list(kernel.pipelines.values())])
        return count

    @property
    def source_count(self):
        """Names that a source is registered under."""
        return len(self.kernels)

    cdef int check_device(self, Device device) except -1:
        if device.registry_id != self.device.registry_id:
            raise InvalidArgument(
                f"kernel registry is bound to Metal device {self.device.registry_id}, "
                f"not {device.registry_id}"
            )
        return 0


cdef list to_names(object names):
    # Letters of a text are no names.
    if not isinstance(names, (str, bytes)):
        try:
            listed = list(names)
        except TypeError:
            pass
        else:
            if all(isinstance(name, str) for name in listed):
                return listed
    raise InvalidType(f"prewarm: names must be a list of str, got {names!r}")


cdef tuple to_pairs(str name, object constants):
    """Return indices or names, checked, with values as they were given."""
    if constants is None:
        return ()
    try:
        pairs = dict(constants).items()
    except (TypeError, ValueError):
        raise InvalidType(
            f"{name}: constants must map indices or names to values, got {constants!r}"
        ) from None
    return tuple([
        (key if type(key) is str else to_integer(
            key, 0, LARGEST_CONSTANT_INDEX, name, "index of a function constant"
        ), value)
        for key, value in pairs
    ])


cdef tuple spell(object constants):
    """Return a key for constants whose spelling tells their values, None for others."""
    cdef list parts = []
    if type(constants) is not dict:
        return None
    for key, value in constants.items():
        # Equal numbers of other types may differ: 0.0 and -0.0, 1 and True.
        if type(key) is not int and type(key) is not str:
            return None
        if type(value) is not int and type(value) is not bool:
            return None
        parts += (key, type(value), value)
    return tuple(parts)


cdef class Program:
    """A source text with its options, and the libraries that it compiles to."""

    def __init__(self, str name, str source, options):
        try:
            self.text = source.encode()
        except UnicodeEncodeError as error:
            raise InvalidArgument(f"{name}: the source is not valid Unicode: {error}") from None
        self.options = options
        self.key = (hashlib.sha256(self.text).hexdigest(), options)
        self.libraries = {}
        self.tables = {}

    cdef tuple pack_constants(self, Device device, str name, tuple pairs):
        if not pairs:
            return ()
        table = self.tables.get(name)
        keys = [key for key, _ in pairs]
        if table is None or not table.covers(keys):
            table = self.tables[name] = self._read_table(device, name, pairs, keys)
        return table.pack(pairs, name)

    def _read_table(self, Device device, str name, tuple pairs, list keys):
        # Names are in no file's name.
        is_named = any([type(key) is str for key in keys])
        library = self.get_library(device, name, () if is_named else pairs)
        lines = constants_in(library, name)
        table = ConstantTable(lines, whole=False)
        if table.covers(keys):
            return table
        return ConstantTable(lines + constants_in(library, None), whole=True)

    cdef Library get_library(self, Device device, str name, tuple constants):
        path = find_library(*self.key, constants, device)
        once = self.libraries.setdefault(path, Once())
        try:
            return once.get(functools.partial(self._load, device, name, path))
        except ShaderCompilationError as error:
            message = explain_missing(error.message, *self.origin)
            if error.name == name and message == error.message:
                raise
            # Another kernel of the text may have asked first.
            raise ShaderCompilationError(name, message) from error

    def _load(self, Device device, str name, str path):
        if path is not None:
            try:
                return open_library(device, name, path)
            except FlashMetalError:
                # Not for this system, or damaged: the text says the same.
                pass
        return compile_library(device, name, self.text, self.options)


cdef class RegisteredKernel:
    """What a name stands for, with the pipelines made of it."""

    def __init__(self, Program program):
        self.program = program
        self.pipelines = {}
        self.by_spelling = {}
        self.probe_lock = threading.RLock()


def is_unavailable_tensor_header(error):
    """Whether a compile error means that the system has no Metal tensor API.

    Parameters
    ----------
    error
        Any exception.

    Returns
    -------
    bool
        True for a ShaderCompilationError that misses `<metal_tensor>`; false for anything else, a
        broken shader included.
    """
    return misses_header(error, "metal_tensor")


def misses_header(error, str header not None):
    """Whether an exception is the compile error of a system that lacks a header of Metal's."""
    return (
        isinstance(error, ShaderCompilationError)
        and "fatal error" in error.message
        and f"'{header}' file not found" in error.message
    )
