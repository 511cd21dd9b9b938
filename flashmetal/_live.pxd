from libc.stdint cimport uint32_t, uint64_t, uintptr_t


cdef enum:
    ANY_DEVICE = 0               # no device has this registry_id


# The own bytes of a live allocation, inside the object that it stands for.
cdef struct LiveRange:
    uintptr_t begin
    uintptr_t end
    uint64_t device              # registry_id
    void *allocation             # borrowed
    bint is_recent
    int place                    # of a recent one
    uintptr_t furthest           # the largest end in this node's subtree
    uint32_t priority
    LiveRange *lower             # borrowed
    LiveRange *upper


# With its first four fields set.
cdef void enter_live(LiveRange *entry) noexcept
cdef void leave_live(LiveRange *entry) noexcept
# One that owns all of these bytes, on that device; NULL when there is none. ANY_DEVICE: whosever.
cdef LiveRange *find_live(uintptr_t begin, uintptr_t end, uint64_t device) noexcept
