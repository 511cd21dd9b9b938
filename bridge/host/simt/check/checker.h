// Checks what kernels do to memory: bounds, races, and threadgroup memory that is read before it is
// written. Dispatches run one after another, and so do their threadgroups, on one OS thread.
#pragma once
#include "../launch.h"
#include "../stack.h"
#include "../threadgroup.h"
#include "finding.h"
#include "same_value.h"
#include "shadow.h"
#include "sight.h"
#include "written.h"

namespace simt {

// One whose threadgroups have serial numbers from `first` on.
struct CheckedDispatch {
    uint32_t first;
    simt_launch launch;
    uintptr_t library;  // where it lies
};

class Checker {
  public:
    explicit Checker(bool strict) : strict_(strict), order_(strict), sight_(strict) {}

    // What follows comes after all that came before: a memory barrier, or the end of an encoder.
    void order();

    // For the worker. The map is to be filled with all that the kernel may touch.
    MemoryMap &begin_dispatch(const simt_launch &launch, const Stacks &stacks);
    void dispatch_mapped();
    MemoryMap &map() { return map_; }
    void begin_threadgroup();
    // What turned out at its end; null: nothing.
    const Finding *end_threadgroup();

    // For the running threadgroup; null: nothing is wrong.
    const Finding *access(const Threadgroup &group, const void *address, size_t bytes,
                          msl_access kind, const void *place);
    void fence(const Threadgroup &group, msl_fence scope, uint32_t memory);
    void barrier_passed();
    void lanes_met(const Threadgroup &group, uint32_t simdgroup, uint32_t lanes);
    // While one thread acts for all.
    void act_for_all(bool acting) { acting_ = acting; }

    // For reports.
    const CheckedDispatch &dispatch_of(const Access &access) const;
    const CheckedDispatch &dispatch() const { return dispatches_.back(); }

  private:
    enum Memory { DEVICE, THREADGROUP, MEMORIES };

    const Finding *check_bounds(uintptr_t address, size_t bytes, const Access &now, msl_access kind,
                                const MemoryRange *range);
    const Finding *check_stack(uintptr_t address, size_t bytes, const Access &now, msl_access kind,
                               const void *frame);
    const Finding *check_written(const MemoryRange &range, uintptr_t address, size_t bytes,
                                 const Access &now);
    const Finding *check_races(const MemoryRange &range, uintptr_t address, size_t bytes,
                               const Access &now, msl_access kind);
    Access access_of(const Threadgroup &group, Memory memory, const void *place) const;

    const bool strict_;
    const Order order_;
    Sight sight_;
    Shadow shadow_;
    MemoryMap map_;
    const Stacks *stacks_ = nullptr;
    std::vector<Written> written_;  // of each range of threadgroup memory
    SameValue same_value_;
    Finding finding_;

    std::vector<CheckedDispatch> dispatches_;
    uint32_t group_ = 0;   // serial number of the running threadgroup
    uint32_t oldest_ = 1;  // of the first that is not ordered before it by the host

    uint32_t barriers_[MEMORIES] = {};  // that the running threadgroup has passed
    uint32_t next_barrier_ = MSL_MEMORY_ALL;
    uint16_t simd_barriers_[MEMORIES][MSL_MAX_THREADS] = {};  // by thread
    bool acting_ = false;
};

}  // namespace simt
