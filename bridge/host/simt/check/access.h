// What the checks remember of one access to memory.
#pragma once
#include "simt.h"

namespace simt {

// As Access::thread: the access was one of all threads together, as a tensor operation's.
constexpr uint16_t ALL_THREADS = UINT16_MAX;

struct Access {
    uint32_t group = 0;          // its threadgroup's serial number, from 1 on; 0: no access
    uint32_t barriers = 0;       // that had ordered this kind of memory in the threadgroup before
    uint16_t thread = 0;         // in the threadgroup
    uint16_t simd_barriers = 0;  // the same of the thread's SIMD-group
    uint32_t time = 0;           // see Sight
    uint32_t place = 0;          // in the kernel's library: bytes from its start
};

inline bool is_write(msl_access kind) {
    return kind == MSL_ACCESS_WRITE || kind == MSL_ACCESS_ATOMIC_WRITE;
}

inline bool is_atomic(msl_access kind) {
    return kind == MSL_ACCESS_ATOMIC_READ || kind == MSL_ACCESS_ATOMIC_WRITE;
}

// Two threads of a SIMD-group run in lockstep on today's GPUs, which public kernels lean on: that
// they take turns at barriers is only asked where `strict`.
class Order {
  public:
    explicit Order(bool strict) : strict_(strict) {}

    // Whether nothing says which of two accesses of one time comes first. `now` is the later one to
    // be seen; threadgroups run one after another.
    bool is_open(const Access &before, const Access &now) const {
        if (before.group != now.group) return true;
        if (before.barriers != now.barriers || before.thread == now.thread) return false;
        if (before.thread / MSL_LANES != now.thread / MSL_LANES) return true;
        return strict_ && before.simd_barriers == now.simd_barriers;
    }

  private:
    bool strict_;
};

}  // namespace simt
