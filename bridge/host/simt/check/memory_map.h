// The memory that a kernel may touch: its arguments, and what the engine itself lends it.
#pragma once
#include "simt.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

enum class MemoryKind {
    Private,  // nobody else's business: the engine's tables, constants of the library
    Stacks,   // all threads'
    Buffer,
    ThreadgroupArgument,
    ThreadgroupVariable,
};

struct MemoryRange {
    MemoryKind kind;
    uintptr_t start, end;
    const msl_binding *binding;  // of an argument
    const char *name;            // of a variable; null: the compiler's own
    size_t number;               // of a range of threadgroup memory, from 0

    bool holds(uintptr_t address, size_t bytes) const {
        return address >= start && address <= end && end - address >= bytes;
    }
    bool is_threadgroup() const {
        return kind == MemoryKind::ThreadgroupArgument || kind == MemoryKind::ThreadgroupVariable;
    }
    bool is_read_only() const { return binding != nullptr && !binding->writable; }
};

// Farther from what a kernel may touch, a pointer is taken for wild rather than for run past an
// end; unless that is larger still.
constexpr size_t NEAR_BYTES = size_t{1} << 24;

class MemoryMap {
  public:
    void clear();
    void add(MemoryKind kind, const void *start, size_t bytes, const msl_binding *binding = nullptr,
             const char *name = nullptr);
    // Memory of the engine's, in place of what it lent before.
    void lend(const void *start, size_t bytes);
    // The buffer arguments of a launch.
    void add_buffers(const simt_launch &launch);

    // The range that has all of these bytes, one to write to if there is; null: none.
    const MemoryRange *find(uintptr_t address, size_t bytes, bool write);
    // Of the arguments and variables, the one from which `address` is the fewest bytes away; null:
    // there is none so near that its index may be what went wrong.
    const MemoryRange *nearest(uintptr_t address) const;
    const std::vector<MemoryRange> &ranges() const { return ranges_; }

  private:
    static constexpr size_t NONE = SIZE_MAX;

    std::vector<MemoryRange> ranges_;
    size_t lent_ = NONE;
    size_t last_ = 0;  // found, and likely to be the next one, too
};

}  // namespace simt
