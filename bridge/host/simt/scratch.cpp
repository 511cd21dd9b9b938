#include "scratch.h"
#include "check/checker.h"
#include "scheduler.h"

namespace simt {

void *Scratch::reserve(size_t bytes) {
    if (bytes <= capacity_) return memory_.get();
    constexpr size_t UNIT = MSL_SCRATCH_ALIGNMENT;
    capacity_ = 0;
    memory_.reset(std::aligned_alloc(UNIT, (bytes + UNIT - 1) / UNIT * UNIT));
    if (memory_) capacity_ = bytes;
    return memory_.get();
}

void *scratch_memory(size_t bytes) {
    Threadgroup &group = *running;
    void *memory = group.scratch->reserve(bytes);
    if (memory != nullptr && group.checker != nullptr) group.checker->map().lend(memory, bytes);
    if (memory != nullptr) return memory;
    group.incident.kind = SIMT_FAULT_OUT_OF_MEMORY;
    scheduler_leave(group);
}

}  // namespace simt
