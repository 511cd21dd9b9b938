"""KVCache: the f16 keys and values of every layer, in buffers of a device.

Only `append` writes, and its views are read-only, so that work in flight can do no more than read.
Rows that such work may be reading are not written: the bridge counts the command buffers that bind
a layer's memory.
"""

from cpython.buffer cimport Py_buffer, PyBuffer_ToContiguous
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport INT32_MAX, INT64_MAX, uint16_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from flashmetal._argument cimport need
from flashmetal._bridge cimport buffer_is_busy, buffer_track, check, check_not_forked, fm_error
from flashmetal._buffer cimport (
    F16, F32, Allocation, Buffer, allocate, dtype_name, dtype_size, new_handle,
)
from flashmetal._device cimport Device
from flashmetal._exporter cimport drain, let_go
from flashmetal._integer cimport to_integer
from flashmetal._source cimport Source, open_source

from flashmetal._argument import MISSING
from flashmetal._text import counted
from flashmetal.errors import F16Overflow, InvalidArgument, InvalidState, UnsupportedDtype

__all__ = ["KVCache"]


cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *object)


cdef extern from "half_float.h" nogil:
    size_t half_find_overflow(const void *values, size_t count)
    void half_convert(const void *values, uint16_t *halves, size_t count)


cdef tuple GROWTHS = ("fixed", "grow", "ring")

cdef enum:
    LAYER_ALIGNMENT = 256     # bytes: of the values behind the keys
    GIL_ELEMENTS = 1 << 16    # from as many on, other threads run meanwhile
    MOST_LAYERS = 1 << 16


# Rows to append: `rows` of `heads` of `width` elements, at strides in bytes.
cdef struct Rows:
    const char *first
    bint is_f32
    Py_ssize_t rows
    Py_ssize_t heads
    Py_ssize_t width
    Py_ssize_t element_size
    Py_ssize_t row_stride
    Py_ssize_t head_stride
    Py_ssize_t stride


cdef class KVCache:
    """The f16 keys and values of a model's layers, appended row by row, by one thread at a time.

    Parameters
    ----------
    device : Device
        Where the memory lives.
    layers, capacity, n_kv_heads, head_dim : int
        Layers, rows of each, and the shape ``[n_kv_heads, head_dim]`` of a row.
    growth : {"fixed", "grow", "ring"}
        What a full layer does. "fixed" refuses. "grow" moves the layer to memory of twice the
        capacity, and refuses while views of it, arrays or plans use the present one: they would go
        on reading it. "ring" overwrites the oldest rows: those of a ring lie in no order of time,
        which decode attention over all of them does not see.

    Attributes
    ----------
    device, n_kv_heads, head_dim
        As given.

    Raises
    ------
    InvalidArgument
        A count is no integer from 1 on, or growth is another.
    BufferAllocationError
        Metal refuses memory for a layer.
    """

    def __cinit__(self, device=MISSING, layers=MISSING, capacity=MISSING, n_kv_heads=MISSING,
                  head_dim=MISSING, growth="fixed"):
        need(device, Device, "KVCache", "device")
        check_not_forked()
        drain()
        if not isinstance(growth, str) or growth not in GROWTHS:
            raise InvalidArgument(
                f'KVCache: growth must be "fixed", "grow" or "ring", got {growth!r}'
            )
        cdef size_t rows = to_integer(capacity, 1, INT64_MAX, "KVCache", "capacity")
        self.device = device
        self.growth_kind = <Growth>(<int>GROWTHS.index(growth))
        self.n_kv_heads = to_integer(n_kv_heads, 1, INT32_MAX, "KVCache", "n_kv_heads")
        self.head_dim = to_integer(head_dim, 1, INT32_MAX, "KVCache", "head_dim")
        self.row_elements = <size_t>self.n_kv_heads * <size_t>self.head_dim
        self.layer_count = to_integer(layers, 1, MOST_LAYERS, "KVCache", "layers")
        self.layers = <Layer *>calloc(self.layer_count, sizeof(Layer))
        if self.layers == NULL:
            raise MemoryError
        self.allocations = [new_layer(self, rows) for _ in range(self.layer_count)]
        for layer in range(self.layer_count):
            set_capacity(self, layer, rows)

    def __dealloc__(self):
        free(self.layers)

    def __len__(self):
        """Count the rows that every layer holds."""
        return min([held_rows(&self.layers[layer]) for layer in range(self.layer_count)])

    def __repr__(self):
        return (
            f"KVCache(layers={self.layer_count}, capacity={self.capacity}, "
            f"n_kv_heads={self.n_kv_heads}, head_dim={self.head_dim}, growth={self.growth!r}, "
            f"len={len(self)})"
        )

    def append(self, layer, k, v):
        """Append rows to a layer.

        Parameters
        ----------
        layer : int
            From 0 on.
        k, v : object with the buffer protocol or DLPack
            f16 or f32 ``[rows, n_kv_heads, head_dim]``, or ``[n_kv_heads, head_dim]`` of one row,
            of any strides. f32 is rounded to the nearest f16, ties to even. Infinities and NaN stay
            what they are. Rows of the cache itself are taken as they were before the call.

        Returns
        -------
        int
            Rows that the layer holds now: the seq_len of attention over all of them.

        Raises
        ------
        F16Overflow
            A finite number of f32 is beyond f16's range.
        InvalidArgument
            The shapes do not fit, there is no such layer, or more rows than a ring holds.
        UnsupportedDtype
            Another element type.
        InvalidState
            The layer is full; or it would move while views or plans use its memory; or rows that
            command buffers in flight, or not yet committed, may be reading would be overwritten; or
            another thread is appending.

        After any of them the cache is what it was.
        """
        cdef Source keys
        cdef Source values
        cdef int index = find_layer(self, layer, "KVCache.append")
        check_not_forked()
        drain()
        open_rows(&keys, k, "k", "KVCache.append: k")
        try:
            open_rows(&values, v, "v", "KVCache.append: v")
            try:
                # Once the exporters' own code has run, which may use the cache.
                enter(self, "append")
                try:
                    append_rows(self, index, &keys, &values)
                finally:
                    self.busy = False
            finally:
                let_go(values.held)
        finally:
            let_go(keys.held)
        return held_rows(&self.layers[index])

    def length(self, layer):
        """Count the rows that a layer holds."""
        return held_rows(&self.layers[find_layer(self, layer, "KVCache.length")])

    def total(self, layer):
        """Count the rows appended to a layer, those too that a ring has overwritten.

        It is the position of the next row.
        """
        return self.layers[find_layer(self, layer, "KVCache.total")].total

    def k(self, layer):
        """Give a layer's keys: a read-only Buffer, f16 ``[capacity, n_kv_heads, head_dim]``."""
        return view_of(self, find_layer(self, layer, "KVCache.k"), False)

    def v(self, layer):
        """Give the values of a layer, as `k`."""
        return view_of(self, find_layer(self, layer, "KVCache.v"), True)

    def truncate(self, n):
        """Keep the first rows of every layer, to append others in place of the rest.

        Parameters
        ----------
        n : int
            Rows, at most as many as every layer holds: see len.

        Raises
        ------
        InvalidArgument
            There are not as many.
        InvalidState
            A ring has overwritten rows that would have to come back, or another thread is
            appending.
        """
        cdef size_t rows = to_integer(n, 0, len(self), "KVCache.truncate", "n")
        for layer in range(self.layer_count):
            if self.layers[layer].total > self.layers[layer].capacity:
                raise InvalidState(
                    f"KVCache.truncate: the ring of layer {layer} has overwritten its first rows; "
                    "reset empties it"
                )
        cut(self, rows, "truncate")

    def reset(self):
        """Empty every layer.

        Raises
        ------
        InvalidState
            Another thread is appending.
        """
        cut(self, 0, "reset")

    @property
    def layers(self):
        """Layers."""
        return self.layer_count

    @property
    def capacity(self):
        """Rows that every layer can hold without growing."""
        return min([self.layers[layer].capacity for layer in range(self.layer_count)])

    @property
    def growth(self):
        """What a full layer does: "fixed", "grow" or "ring"."""
        return GROWTHS[<int>self.growth_kind]


# Refuses a second thread while the first has let the GIL go.
cdef int enter(KVCache cache, str method) except -1:
    if cache.busy:
        raise InvalidState(
            f"KVCache.{method}: another thread is appending to the cache: let one thread at a time "
            "change it"
        )
    cache.busy = True
    return 0


# ---- layers -------------------------------------------------------------------------------------

cdef int find_layer(KVCache cache, object layer, str method) except -1:
    return to_integer(layer, 0, cache.layer_count - 1, method, "layer")


cdef size_t held_rows(const Layer *layer) noexcept:
    return min(layer.total, layer.capacity)


cdef object side_bytes(KVCache cache, object capacity):
    # Of the keys, and of the values; Python's integers do not overflow.
    size = capacity * <object>cache.row_elements * <object>dtype_size(F16)
    return (size + LAYER_ALIGNMENT - 1) // LAYER_ALIGNMENT * LAYER_ALIGNMENT


cdef int set_capacity(KVCache cache, int layer, size_t capacity) except -1:
    # Of a layer that has the memory: the sizes fit then.
    cache.layers[layer].capacity = capacity
    cache.layers[layer].side = side_bytes(cache, capacity)
    return 0


cdef Allocation new_layer(KVCache cache, object capacity):
    cdef Allocation allocation = allocate(cache.device, 2 * side_bytes(cache, capacity))
    cdef fm_error error
    error.message = NULL
    check(buffer_track(allocation.handle, &error), &error, NULL)
    return allocation


cdef Allocation allocation_of(KVCache cache, int layer):
    return cache.allocations[layer]


cdef uint16_t *memory_of(KVCache cache, int layer, bint is_values) except NULL:
    cdef char *base = allocation_of(cache, layer).base
    if base == NULL:
        raise InvalidState(f"KVCache: the memory of layer {layer} was released through a view")
    if is_values:
        base += cache.layers[layer].side
    return <uint16_t *>base


cdef Buffer view_of(KVCache cache, int layer, bint is_values):
    cdef size_t capacity = cache.layers[layer].capacity
    cdef Py_ssize_t[3] shape
    cdef size_t offset = cache.layers[layer].side if is_values else 0
    shape[0], shape[1], shape[2] = capacity, cache.n_kv_heads, cache.head_dim
    return new_handle(allocation_of(cache, layer), offset,
                      capacity * cache.row_elements * dtype_size(F16), F16, shape, 3, True)


cdef int cut(KVCache cache, size_t rows, str method) except -1:
    # What was readable stays so: work in flight may be reading what is cut off.
    cdef Layer *layer
    enter(cache, method)
    for index in range(cache.layer_count):
        layer = &cache.layers[index]
        layer.readable = max(layer.readable, held_rows(layer))
        layer.total = rows
    cache.busy = False
    return 0


# ---- appending ----------------------------------------------------------------------------------

cdef int open_rows(Source *source, object rows, str name, str argument) except -1:
    try:
        return open_source(source, rows, argument)
    except UnsupportedDtype as error:
        raise unsupported(error.dtype, name) from error


cdef object unsupported(str dtype, str name):
    return UnsupportedDtype(
        dtype,
        f"KVCache.append takes {name} as f16 or f32 in this machine's byte order: use "
        f"{name}.astype('float32')",
    )


cdef int append_rows(KVCache cache, int index, const Source *keys, const Source *values) except -1:
    cdef Rows k
    cdef Rows v
    cdef Allocation moved
    describe_rows(&k, cache, keys, "k")
    describe_rows(&v, cache, values, "v")
    if k.rows != v.rows:
        raise InvalidArgument(f"KVCache.append: k has {counted(k.rows, 'row')}, v has {v.rows}")
    memory_of(cache, index, False)  # there at all?
    # Before the numbers are looked at: broadcast rows can be more than any memory holds.
    moved = find_room(cache, index, k.rows)
    check_range(&k, index, "k")
    check_range(&v, index, "v")
    if moved is not None:
        move(cache, index, moved, k.rows)
    check_unread(cache, index, k.rows)
    return write_both(cache, index, &k, &v, keys, values)


cdef int write_both(KVCache cache, int index, Rows *k, Rows *v, const Source *keys,
                    const Source *values) except -1:
    cdef Layer *layer = &cache.layers[index]
    cdef Allocation allocation = allocation_of(cache, index)
    # Released while the numbers were looked at?
    cdef uint16_t *key_memory = memory_of(cache, index, False)
    cdef uint16_t *value_memory = memory_of(cache, index, True)
    cdef bytes _own_keys = copy_of_own(k, allocation, keys)
    cdef bytes _own_values = copy_of_own(v, allocation, values)
    # Nobody releases the memory meanwhile.
    allocation.exports += 1
    try:
        write(key_memory, cache.row_elements, layer, k)
        write(value_memory, cache.row_elements, layer, v)
    finally:
        allocation.exports -= 1
    layer.total += k.rows
    layer.readable = max(layer.readable, held_rows(layer))
    return 0


# Of rows in the memory that is about to be written; None for others.
cdef bytes copy_of_own(Rows *rows, Allocation allocation, const Source *source):
    cdef bytes copy
    # Python 3.10 asks for one that it may change, and does not.
    cdef Py_buffer *view = <Py_buffer *>&source.held.view
    if not is_inside(rows, allocation):
        return None
    copy = PyBytes_FromStringAndSize(NULL, view.len)
    PyBuffer_ToContiguous(PyBytes_AS_STRING(copy), view, view.len, b"C")
    rows.first = PyBytes_AS_STRING(copy)
    set_strides(rows)
    return copy


cdef bint is_inside(const Rows *rows, Allocation allocation) noexcept:
    cdef const char *low = rows.first
    cdef const char *high = rows.first + rows.element_size
    cdef Py_ssize_t[3] reach
    reach[0] = (rows.rows - 1) * rows.row_stride
    reach[1] = (rows.heads - 1) * rows.head_stride
    reach[2] = (rows.width - 1) * rows.stride
    for axis in range(3):
        low += min(0, reach[axis])
        high += max(0, reach[axis])
    return low < allocation.base + allocation.length and high > allocation.base


cdef int describe_rows(Rows *rows, KVCache cache, const Source *source, str name) except -1:
    cdef const Py_ssize_t *strides = source.held.view.strides
    cdef const Py_ssize_t *shape = source.shape
    cdef int axes = source.axis_count
    if source.code != F16 and source.code != F32:
        raise unsupported(dtype_name(source.code), name)
    if axes not in (2, 3) or (
        shape[axes - 2] != cache.n_kv_heads or shape[axes - 1] != cache.head_dim
    ):
        raise InvalidArgument(
            f"KVCache.append: {name} must be [rows, {cache.n_kv_heads}, {cache.head_dim}] or "
            f"[{cache.n_kv_heads}, {cache.head_dim}], got {[shape[axis] for axis in range(axes)]}"
        )
    rows.first = <const char *>source.held.view.buf
    rows.is_f32 = source.code == F32
    rows.rows = shape[0] if axes == 3 else 1
    rows.heads = cache.n_kv_heads
    rows.width = cache.head_dim
    rows.element_size = dtype_size(source.code)
    set_strides(rows)
    if strides != NULL:
        rows.stride, rows.head_stride = strides[axes - 1], strides[axes - 2]
        rows.row_stride = strides[0] if axes == 3 else 0
    return 0


cdef void set_strides(Rows *rows) noexcept:
    # Of contiguous rows.
    rows.stride = rows.element_size
    rows.head_stride = rows.width * rows.stride
    rows.row_stride = rows.heads * rows.head_stride


cdef int check_range(const Rows *rows, int layer, str name) except -1:
    cdef Py_ssize_t row = 0
    cdef float value = 0
    cdef bint overflows
    if not rows.is_f32:
        return 0
    if rows.rows * rows.heads * rows.width < GIL_ELEMENTS:
        overflows = find_overflow(rows, &row, &value)
    else:
        with nogil:
            overflows = find_overflow(rows, &row, &value)
    if overflows:
        raise F16Overflow(layer, name, row, value)
    return 0


# The memory that a layer has to move to for more rows; None where there is room.
cdef Allocation find_room(KVCache cache, int index, size_t rows):
    cdef Layer *layer = &cache.layers[index]
    if cache.growth_kind == RING:
        if rows > layer.capacity:
            raise InvalidArgument(
                f"KVCache.append: {rows} rows are more than the {layer.capacity} of the ring"
            )
        return None
    if rows <= layer.capacity - layer.total:
        return None
    if cache.growth_kind == FIXED:
        raise InvalidState(
            f"KVCache.append: layer {index} holds {layer.total} of {layer.capacity} rows, and "
            f"{rows} more do not fit: truncate or reset it, or make one with a larger capacity, "
            'growth="grow" or growth="ring"'
        )
    check_unused(cache, index)
    return new_layer(cache, grown_capacity(layer, rows))


cdef size_t grown_capacity(const Layer *layer, size_t rows) noexcept:
    return max(layer.total + rows, 2 * layer.capacity)


cdef int check_unused(KVCache cache, int index) except -1:
    cdef Allocation present = allocation_of(cache, index)
    # All references but the list's and the one just taken.
    cdef Py_ssize_t users = Py_REFCNT(<PyObject *>present) - 2
    if users:
        raise InvalidState(
            f"KVCache.append: layer {index} is full, and its memory has {counted(users, 'user')} "
            "(views, arrays, plans), to be dropped before it grows, as they would go on reading "
            "it: or make the cache with a larger capacity"
        )
    return 0


cdef int move(KVCache cache, int index, Allocation moved, size_t rows) except -1:
    cdef Layer *layer = &cache.layers[index]
    cdef size_t capacity = grown_capacity(layer, rows)
    cdef size_t size = layer.total * cache.row_elements * dtype_size(F16)
    # Once more: other threads ran while the numbers were looked at.
    check_unused(cache, index)
    memcpy(moved.base, memory_of(cache, index, False), size)
    memcpy(moved.base + <size_t>side_bytes(cache, capacity), memory_of(cache, index, True), size)
    # Command buffers in flight keep the memory that they read.
    cache.allocations[index] = moved
    set_capacity(cache, index, capacity)
    layer.readable = layer.total
    return 0


cdef int check_unread(KVCache cache, int index, size_t rows) except -1:
    cdef Layer *layer = &cache.layers[index]
    # A ring that is full writes over rows that can be read; others do so only after a cut.
    cdef bint overwrites = layer.total < layer.readable or layer.total + rows > layer.capacity
    if not overwrites or rows == 0:
        return 0
    if buffer_is_busy(allocation_of(cache, index).handle):
        raise InvalidState(
            f"KVCache.append: rows of layer {index} would be overwritten that command buffers may "
            "be reading: wait for those that use the cache, or discard them, first"
        )
    layer.readable = held_rows(layer)
    return 0


# ---- memory -------------------------------------------------------------------------------------

cdef int write(uint16_t *memory, size_t row_elements, const Layer *layer,
               const Rows *rows) except -1:
    cdef size_t start = layer.total
    cdef size_t capacity = layer.capacity
    if rows.rows * rows.heads * rows.width < GIL_ELEMENTS:
        write_rows(memory, row_elements, start, capacity, rows)
    else:
        with nogil:
            write_rows(memory, row_elements, start, capacity, rows)
    return 0


cdef void write_rows(uint16_t *memory, size_t row_elements, size_t start, size_t capacity,
                     const Rows *rows) noexcept nogil:
    cdef Py_ssize_t row
    cdef Py_ssize_t head
    cdef uint16_t *to
    for row in range(rows.rows):
        to = memory + (start + row) % capacity * row_elements
        for head in range(rows.heads):
            write_head(to, rows.first + row * rows.row_stride + head * rows.head_stride, rows)
            to += rows.width


cdef void write_head(uint16_t *to, const char *first, const Rows *rows) noexcept nogil:
    cdef Py_ssize_t i
    if rows.is_f32:
        if rows.stride == sizeof(float):
            half_convert(first, to, rows.width)
        else:
            for i in range(rows.width):
                half_convert(first + i * rows.stride, to + i, 1)
    elif rows.stride == sizeof(uint16_t):
        memcpy(to, first, rows.width * sizeof(uint16_t))
    else:
        for i in range(rows.width):
            memcpy(to + i, first + i * rows.stride, sizeof(uint16_t))


cdef bint find_overflow(const Rows *rows, Py_ssize_t *row, float *value) noexcept nogil:
    cdef Py_ssize_t head
    cdef Py_ssize_t i
    cdef const char *first
    for row[0] in range(rows.rows):
        for head in range(rows.heads):
            first = rows.first + row[0] * rows.row_stride + head * rows.head_stride
            i = overflow_of_head(first, rows)
            if i < rows.width:
                memcpy(value, first + i * rows.stride, sizeof(float))
                return True
    return False


cdef Py_ssize_t overflow_of_head(const char *first, const Rows *rows) noexcept nogil:
    cdef Py_ssize_t i
    if rows.stride == sizeof(float):
        return half_find_overflow(first, rows.width)
    for i in range(rows.width):
        if half_find_overflow(first + i * rows.stride, 1) == 0:
            return i
    return rows.width
