#include "memory_map.h"

#include <algorithm>

namespace simt {
namespace {

size_t distance(const MemoryRange &range, uintptr_t address) {
    if (address < range.start) return range.start - address;
    return address < range.end ? 0 : address - range.end;
}

}  // namespace

void MemoryMap::clear() {
    ranges_.clear();
    lent_ = NONE;
    last_ = 0;
}

void MemoryMap::add(MemoryKind kind, const void *start, size_t bytes, const msl_binding *binding,
                    const char *name) {
    if (bytes == 0) return;
    const auto from = reinterpret_cast<uintptr_t>(start);
    MemoryRange range = {kind, from, from + bytes, binding, name, 0};
    for (const MemoryRange &other : ranges_)
        range.number += other.is_threadgroup();
    ranges_.push_back(range);
}

void MemoryMap::lend(const void *start, size_t bytes) {
    if (lent_ != NONE) ranges_.erase(ranges_.begin() + static_cast<ptrdiff_t>(lent_));
    lent_ = ranges_.size();
    add(MemoryKind::Private, start, bytes);
}

void MemoryMap::add_buffers(const simt_launch &launch) {
    for (uint32_t i = 0; i < launch.kernel->binding_count; i++) {
        const msl_binding &binding = launch.kernel->bindings[i];
        if (binding.kind != MSL_BINDING_BUFFER || !binding.used) continue;
        add(MemoryKind::Buffer, launch.buffers[binding.index], launch.buffer_lengths[binding.index],
            &binding);
    }
}

const MemoryRange *MemoryMap::find(uintptr_t address, size_t bytes, bool write) {
    if (last_ < ranges_.size()) {
        const MemoryRange &last = ranges_[last_];
        if (last.holds(address, bytes) && !(write && last.is_read_only())) return &last;
    }
    const MemoryRange *read_only = nullptr;
    for (size_t i = 0; i < ranges_.size(); i++) {
        if (!ranges_[i].holds(address, bytes)) continue;
        if (write && ranges_[i].is_read_only()) {
            read_only = &ranges_[i];
            continue;
        }
        last_ = i;
        return &ranges_[i];
    }
    return read_only;
}

const MemoryRange *MemoryMap::nearest(uintptr_t address) const {
    const MemoryRange *nearest = nullptr;
    for (const MemoryRange &range : ranges_) {
        if (range.binding == nullptr && range.name == nullptr) continue;
        if (distance(range, address) > std::max(NEAR_BYTES, range.end - range.start)) continue;
        if (nearest == nullptr || distance(range, address) < distance(*nearest, address))
            nearest = &range;
    }
    return nearest;
}

}  // namespace simt
