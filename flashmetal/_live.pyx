"""The live allocations by address: which of them owns some bytes?

A treap, that is a binary search tree by address whose shape random priorities keep flat, each node
with the furthest end below it, since wrapped memory may overlap. Its nodes lie inside the
allocations, so that nothing is allocated. The newest few are in a table of their own: most of what
is wrapped for one call is gone before others come, and the tree with all that stays, each node of
which is somewhere else in memory, is not touched. The GIL guards both.
"""

from libc.stdint cimport UINTPTR_MAX, uint32_t, uint64_t, uintptr_t

__all__ = []

cdef enum:
    RECENT = 4

cdef LiveRange *recent[RECENT]
cdef int recent_count = 0
cdef int oldest = 0           # the place that is given up next when the table is full

cdef LiveRange *root = NULL

# Bytes that nothing in the tree owns: those before the end are in a gap, or there is no gap.
cdef uintptr_t gap_begin = 0
cdef uintptr_t gap_end = 0


cdef void enter_live(LiveRange *entry) noexcept:
    global recent_count, oldest
    cdef int place = recent_count
    if recent_count < RECENT:
        recent_count += 1
    else:
        place = oldest
        oldest = (oldest + 1) % RECENT
        plant(recent[place])
    entry.is_recent = True
    entry.place = place
    recent[place] = entry


cdef void leave_live(LiveRange *entry) noexcept:
    global root, recent_count
    if not entry.is_recent:
        root = remove(root, entry)
        return
    recent_count -= 1
    recent[entry.place] = recent[recent_count]
    recent[entry.place].place = entry.place


cdef void plant(LiveRange *entry) noexcept:
    global root, gap_end
    gap_end = gap_begin
    entry.is_recent = False
    # The bits of a multiple of an address are as good as random.
    entry.priority = <uint32_t>(<uint64_t><uintptr_t>entry * <uint64_t>0x9E3779B97F4A7C15 >> 32)
    root = insert(root, entry)


cdef LiveRange *find_live(uintptr_t begin, uintptr_t end, uint64_t device) noexcept:
    cdef LiveRange *entry
    cdef int place
    for place in range(recent_count):
        entry = recent[place]
        if owns(entry, begin, end, device):
            return entry
    if gap_begin <= begin < gap_end:
        return NULL
    entry = find(root, begin, end, device)
    if entry == NULL:
        note_gap(begin)
    return entry


cdef bint owns(const LiveRange *entry, uintptr_t begin, uintptr_t end, uint64_t device) noexcept:
    return entry.begin <= begin and entry.end >= end and (
        entry.device == device or device == ANY_DEVICE
    )


# Remembers what surrounds an address: memory that is wrapped anew lies where it lay before.
cdef void note_gap(uintptr_t address) noexcept:
    global gap_begin, gap_end
    cdef LiveRange *node = root
    cdef uintptr_t begin = 0
    cdef uintptr_t end = UINTPTR_MAX
    while node != NULL:
        if node.begin <= address:
            # All of the lower subtree begins before the address, too.
            if node.end > address or (node.lower != NULL and node.lower.furthest > address):
                return
            begin = max(begin, node.end)
            if node.lower != NULL:
                begin = max(begin, node.lower.furthest)
            node = node.upper
        else:
            end = node.begin
            node = node.lower
    gap_begin = begin
    gap_end = end


cdef bint is_before(const LiveRange *one, const LiveRange *other) noexcept:
    if one.begin != other.begin:
        return one.begin < other.begin
    return <uintptr_t>one < <uintptr_t>other


cdef void update(LiveRange *node) noexcept:
    node.furthest = node.end
    if node.lower != NULL and node.lower.furthest > node.furthest:
        node.furthest = node.lower.furthest
    if node.upper != NULL and node.upper.furthest > node.furthest:
        node.furthest = node.upper.furthest


cdef LiveRange *insert(LiveRange *node, LiveRange *entry) noexcept:
    if node == NULL or entry.priority > node.priority:
        split(node, entry, &entry.lower, &entry.upper)
        update(entry)
        return entry
    if is_before(entry, node):
        node.lower = insert(node.lower, entry)
    else:
        node.upper = insert(node.upper, entry)
    update(node)
    return node


cdef void split(LiveRange *node, const LiveRange *at, LiveRange **lower,
                LiveRange **upper) noexcept:
    if node == NULL:
        lower[0] = upper[0] = NULL
    elif is_before(node, at):
        split(node.upper, at, &node.upper, upper)
        lower[0] = node
        update(node)
    else:
        split(node.lower, at, lower, &node.lower)
        upper[0] = node
        update(node)


cdef LiveRange *remove(LiveRange *node, const LiveRange *entry) noexcept:
    if node == entry:
        return merge(node.lower, node.upper)
    if is_before(entry, node):
        node.lower = remove(node.lower, entry)
    else:
        node.upper = remove(node.upper, entry)
    update(node)
    return node


cdef LiveRange *merge(LiveRange *lower, LiveRange *upper) noexcept:
    if lower == NULL:
        return upper
    if upper == NULL:
        return lower
    if lower.priority > upper.priority:
        lower.upper = merge(lower.upper, upper)
        update(lower)
        return lower
    upper.lower = merge(lower, upper.lower)
    update(upper)
    return upper


cdef LiveRange *find(LiveRange *node, uintptr_t begin, uintptr_t end, uint64_t device) noexcept:
    if node == NULL or node.furthest < end:
        return NULL
    cdef LiveRange *found = find(node.lower, begin, end, device)
    if found != NULL or node.begin > begin:
        return found
    if owns(node, begin, end, device):
        return node
    return find(node.upper, begin, end, device)
