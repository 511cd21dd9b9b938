"""DLPack, by which libraries hand each other tensors without a copy: capsules out and in.

Its structs are declared here as its specification lays them out. Consumers may be done with a
tensor on any thread, with the GIL or without, so that memory goes back as that of Metal's does.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.pycapsule cimport (
    PyCapsule_GetPointer,
    PyCapsule_IsValid,
    PyCapsule_New,
    PyCapsule_SetName,
)
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from flashmetal._exporter cimport (
    MOST_DIMENSIONS, held_memory, let_go, new_held, release_later,
)

from flashmetal.errors import InvalidArgument, UnsupportedDtype

__all__ = []

cdef extern from "Python.h":
    bint PyGILState_Check() nogil

cdef enum:
    CPU = 1               # kDLCPU
    READ_ONLY = 1 << 0    # flags
    COPIED = 1 << 1
    MAJOR = 1             # version of the structs
    MINOR = 0

cdef const char *UNVERSIONED = "dltensor"
cdef const char *VERSIONED = "dltensor_versioned"

cdef struct DLTensor:
    void *data
    int32_t device_type
    int32_t device_id
    int32_t ndim
    uint8_t code
    uint8_t bits
    uint16_t lanes
    int64_t *shape
    int64_t *strides       # in elements; NULL: C order
    uint64_t byte_offset

cdef struct ManagedTensor:
    DLTensor tensor
    void *context
    void (*deleter)(ManagedTensor *) noexcept nogil

cdef struct VersionedTensor:
    uint32_t major
    uint32_t minor
    void *context
    void (*deleter)(VersionedTensor *) noexcept nogil
    uint64_t flags
    DLTensor tensor


# ---- out ----------------------------------------------------------------------------------------

cdef object to_capsule(held_memory *held, int code, int bits, bint versioned, bint copied):
    # One block: the struct, then the strides in elements.
    cdef size_t head = sizeof(VersionedTensor) if versioned else sizeof(ManagedTensor)
    cdef char *block = <char *>PyMem_RawCalloc(1, head + held.view.ndim * sizeof(int64_t))
    if block == NULL:
        let_go(held)
        raise MemoryError
    cdef int64_t *strides = <int64_t *>(block + head)
    if versioned:
        fill_tensor(&(<VersionedTensor *>block).tensor, held, code, bits, strides)
        return wrap_versioned(<VersionedTensor *>block, held, copied)
    fill_tensor(&(<ManagedTensor *>block).tensor, held, code, bits, strides)
    return wrap_unversioned(<ManagedTensor *>block, held)


cdef void fill_tensor(DLTensor *tensor, held_memory *held, int code, int bits,
                      int64_t *strides) noexcept:
    tensor.data = held.view.buf
    tensor.device_type = CPU
    tensor.ndim = held.view.ndim
    tensor.code = code
    tensor.bits = bits
    tensor.lanes = 1
    tensor.shape = <int64_t *>held.view.shape
    tensor.strides = strides
    for axis in range(held.view.ndim):
        strides[axis] = held.view.strides[axis] // held.view.itemsize


cdef object wrap_versioned(VersionedTensor *managed, held_memory *held, bint copied):
    managed.major = MAJOR
    managed.minor = MINOR
    managed.context = held
    managed.deleter = delete_versioned
    managed.flags = (READ_ONLY if held.view.readonly else 0) | (COPIED if copied else 0)
    try:
        return PyCapsule_New(managed, VERSIONED, destroy_capsule)
    except BaseException:
        delete_versioned(managed)
        raise


cdef object wrap_unversioned(ManagedTensor *managed, held_memory *held):
    managed.context = held
    managed.deleter = delete_unversioned
    try:
        return PyCapsule_New(managed, UNVERSIONED, destroy_capsule)
    except BaseException:
        delete_unversioned(managed)
        raise


cdef void delete_versioned(VersionedTensor *managed) noexcept nogil:
    give_back(<held_memory *>managed.context)
    PyMem_RawFree(managed)


cdef void delete_unversioned(ManagedTensor *managed) noexcept nogil:
    give_back(<held_memory *>managed.context)
    PyMem_RawFree(managed)


cdef void give_back(held_memory *held) noexcept nogil:
    if PyGILState_Check():
        with gil:
            let_go(held)
    else:
        release_later(NULL, 0, held)


cdef void destroy_capsule(object capsule) noexcept:
    # A consumer renames what it takes over.
    cdef VersionedTensor *versioned
    cdef ManagedTensor *managed
    if PyCapsule_IsValid(capsule, VERSIONED):
        versioned = <VersionedTensor *>PyCapsule_GetPointer(capsule, VERSIONED)
        versioned.deleter(versioned)
    elif PyCapsule_IsValid(capsule, UNVERSIONED):
        managed = <ManagedTensor *>PyCapsule_GetPointer(capsule, UNVERSIONED)
        managed.deleter(managed)


# ---- in -----------------------------------------------------------------------------------------

cdef held_memory *hold_tensor(object exporter, str argument, int *code, int *bits) except NULL:
    check_device(exporter, argument)
    capsule = ask(exporter, argument)
    cdef held_memory *held = take(capsule, argument)
    cdef DLTensor *tensor = tensor_of(held)
    try:
        fill_view(held, tensor, type(exporter).__name__, argument)
    except BaseException:
        let_go(held)
        raise
    code[0] = tensor.code
    bits[0] = tensor.bits
    return held


cdef int check_device(object exporter, str argument) except -1:
    try:
        kind = int(exporter.__dlpack_device__()[0])
    except Exception as error:
        raise InvalidArgument(
            f"{argument}: {type(exporter).__name__} does not say on which device its memory lies: "
            f"{error!r}"
        ) from error
    return check_kind(kind, type(exporter).__name__, argument)


cdef int check_kind(object kind, str name, str argument) except -1:
    if kind != CPU:
        raise InvalidArgument(
            f"{argument}: {name} lies on DLPack device type {kind}, and only memory of the CPU "
            f"({<int>CPU}) is used in place; move it there first, e.g. .cpu()"
        )
    return 0


cdef object ask(object exporter, str argument):
    try:
        try:
            return exporter.__dlpack__(max_version=(<int>MAJOR, <int>MINOR))
        except TypeError:
            # It was written before versions were.
            return exporter.__dlpack__()
    except Exception as error:
        # Whatever another library raises.
        raise InvalidArgument(
            f"{argument}: {type(exporter).__name__} does not export its memory: {error}"
        ) from error


cdef held_memory *take(object capsule, str argument) except NULL:
    cdef bint versioned = PyCapsule_IsValid(capsule, VERSIONED)
    cdef VersionedTensor *newer
    if not versioned and not PyCapsule_IsValid(capsule, UNVERSIONED):
        raise InvalidArgument(
            f"{argument}: __dlpack__ gave no capsule of a tensor, got {capsule!r}"
        )
    if versioned:
        newer = <VersionedTensor *>PyCapsule_GetPointer(capsule, VERSIONED)
        if newer.major != MAJOR:
            raise InvalidArgument(f"{argument}: DLPack {newer.major}, and {<int>MAJOR} is known")
    cdef held_memory *held = new_held()
    if held == NULL:
        raise MemoryError
    held.view.strides = NULL
    # The names are kept by the capsule as they are: constants.
    if versioned:
        held.view.internal = PyCapsule_GetPointer(capsule, VERSIONED)
        held.release = release_versioned
        PyCapsule_SetName(capsule, "used_dltensor_versioned")
    else:
        held.view.internal = PyCapsule_GetPointer(capsule, UNVERSIONED)
        held.release = release_unversioned
        PyCapsule_SetName(capsule, "used_dltensor")
    return held


cdef DLTensor *tensor_of(held_memory *held) noexcept:
    if held.release == release_versioned:
        return &(<VersionedTensor *>held.view.internal).tensor
    return &(<ManagedTensor *>held.view.internal).tensor


cdef int fill_view(held_memory *held, DLTensor *tensor, str name, str argument) except -1:
    # Said twice, and the capsule is what counts.
    check_kind(tensor.device_type, name, argument)
    if tensor.lanes != 1 or tensor.bits % 8 or tensor.bits == 0:
        raise UnsupportedDtype(f"{tensor.bits} bits in {tensor.lanes} lanes")
    if not 0 <= tensor.ndim <= MOST_DIMENSIONS or (tensor.ndim and tensor.shape == NULL):
        raise InvalidArgument(f"{argument}: {name} has a tensor of {tensor.ndim} axes")
    held.view.itemsize = tensor.bits // 8
    held.view.len = count_bytes(tensor, held.view.itemsize, name, argument)
    held.view.buf = <char *>tensor.data + tensor.byte_offset
    if tensor.data == NULL and held.view.len:
        raise InvalidArgument(f"{argument}: {name} has a tensor without memory")
    # Without versions nobody says what is read-only, and immutable arrays come so, too.
    held.view.readonly = True
    if held.release == release_versioned:
        held.view.readonly = (<VersionedTensor *>held.view.internal).flags & READ_ONLY
    held.view.format = NULL
    held.view.ndim = tensor.ndim
    held.view.shape = <Py_ssize_t *>tensor.shape
    held.view.suboffsets = NULL
    return fill_strides(held, tensor)


cdef Py_ssize_t count_bytes(const DLTensor *tensor, Py_ssize_t itemsize, str name,
                            str argument) except -1:
    size = <object>itemsize  # Python's integers do not overflow
    for axis in range(tensor.ndim):
        if tensor.shape[axis] < 0:
            raise InvalidArgument(
                f"{argument}: {name} has a tensor of {tensor.shape[axis]} elements"
            )
        size *= tensor.shape[axis]
    if size > INT64_MAX:
        raise InvalidArgument(f"{argument}: {name} has a tensor of {size} bytes")
    return size


cdef int fill_strides(held_memory *held, const DLTensor *tensor) except -1:
    if tensor.strides == NULL or tensor.ndim == 0:
        return 0
    held.view.strides = <Py_ssize_t *>PyMem_RawCalloc(tensor.ndim, sizeof(Py_ssize_t))
    if held.view.strides == NULL:
        raise MemoryError
    for axis in range(tensor.ndim):
        held.view.strides[axis] = tensor.strides[axis] * held.view.itemsize
    return 0


cdef void release_versioned(held_memory *held) noexcept:
    cdef VersionedTensor *managed = <VersionedTensor *>held.view.internal
    PyMem_RawFree(held.view.strides)
    if managed.deleter != NULL:
        managed.deleter(managed)


cdef void release_unversioned(held_memory *held) noexcept:
    cdef ManagedTensor *managed = <ManagedTensor *>held.view.internal
    PyMem_RawFree(held.view.strides)
    if managed.deleter != NULL:
        managed.deleter(managed)
