from flashmetal._exporter cimport held_memory


# A capsule of memory that has C order, which it keeps until its consumer is done. Takes `held`
# over, also when it fails. `code` and `bits` are DLPack's of the elements.
cdef object to_capsule(held_memory *held, int code, int bits, bint versioned, bint copied)
# The memory of an object's tensor: its view has no format, `code` and `bits` say what it holds.
# Raises InvalidArgument whose text starts with `argument`.
cdef held_memory *hold_tensor(object exporter, str argument, int *code, int *bits) except NULL
