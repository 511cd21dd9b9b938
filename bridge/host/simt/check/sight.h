// What each thread of the running threadgroup knows, by atomics, of what others have done.
//
// Metal's atomics are relaxed: what orders the memory beside them is a threadgroup_barrier of
// device memory or an atomic_thread_fence, before them for what is handed over and behind them for
// what is received. Where `strict`, nothing else counts; else each atomic orders its own thread,
// too, and any SIMD-group operation its lanes. What a thread knows, any barrier of memory passes
// on.
#pragma once
#include "handover.h"

namespace simt {

class Sight {
  public:
    explicit Sight(bool strict) : strict_(strict) {}

    void begin_threadgroup(uint32_t group);
    uint32_t time() const { return time_; }

    // A thread's atomic access to a location that `last` was handed over at; what it is then.
    uint32_t meet(uint32_t thread, uint32_t last, bool writes);
    // The thread's own fence of device memory.
    void fence(uint32_t thread);
    void lanes_met(uint32_t simdgroup, uint32_t lanes, bool all);
    // `memory`: what the barrier orders.
    void barrier_passed(uint32_t memory);

    bool covers(uint32_t thread, const Access &access) {
        return handovers_.cover(known_to(thread), access);
    }
    bool reaches(uint32_t thread, uint32_t group) {
        return handovers_.reach(known_to(thread), group);
    }

    // What is handed over at a location of threadgroup memory is only its own threadgroup's.
    uint32_t own(uint32_t last) const { return handovers_.group_of(last) == group_ ? last : 0; }
    size_t count() const { return handovers_.count(); }
    void forget() { handovers_.forget(); }

  private:
    // What all threads do together comes behind barriers, which have told each of them.
    uint32_t known_to(uint32_t thread) const { return known_[thread == ALL_THREADS ? 0 : thread]; }

    const bool strict_;
    Handovers handovers_;
    uint32_t time_ = 1;  // of what happens next; threads run one at a time
    uint32_t group_ = 0;
    uint32_t group_before_ = 0;  // the time of the last barrier of device memory
    uint32_t simdgroup_before_[MSL_MAX_THREADS / MSL_LANES] = {};
    bool knowing_ = false;                     // whether any thread knows anything
    uint32_t known_[MSL_MAX_THREADS] = {};     // by thread: a handover
    uint32_t unfenced_[MSL_MAX_THREADS] = {};  // received, but not ordered yet
};

}  // namespace simt
