"""The live allocations by address: which of them owns some bytes?

A treap, that is a binary search tree by address whose shape random priorities keep flat, each node
with the furthest end below it, since wrapped memory may overlap. Its nodes lie inside the
allocations, so that nothing is allocated. The GIL guards it.
"""

from libc.stdint cimport uint32_t, uint64_t, uintptr_t

__all__ = []

cdef LiveRange *root = NULL


cdef void enter_live(LiveRange *entry) noexcept:
    global root
    # The bits of a multiple of an address are as good as random.
    entry.priority = <uint32_t>(<uint64_t><uintptr_t>entry * <uint64_t>0x9E3779B97F4A7C15 >> 32)
    root = insert(root, entry)


cdef void leave_live(LiveRange *entry) noexcept:
    global root
    root = remove(root, entry)


cdef LiveRange *find_live(uintptr_t begin, uintptr_t end, uint64_t device) noexcept:
    return find(root, begin, end, device)


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
    if node.end >= end and (node.device == device or device == ANY_DEVICE):
        return node
    return find(node.upper, begin, end, device)
