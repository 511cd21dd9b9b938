#include "sight.h"

#include <algorithm>

namespace simt {

void Sight::begin_threadgroup(uint32_t group) {
    group_ = group;
    group_before_ = 0;
    std::fill_n(simdgroup_before_, MSL_MAX_THREADS / MSL_LANES, 0u);
    if (!knowing_) return;
    std::fill_n(known_, MSL_MAX_THREADS, 0u);
    std::fill_n(unfenced_, MSL_MAX_THREADS, 0u);
    knowing_ = false;
}

uint32_t Sight::meet(uint32_t thread, uint32_t last, bool writes) {
    last = handovers_.known(last);
    uint32_t &received = strict_ ? unfenced_[thread] : known_[thread];
    knowing_ = true;
    if (!writes) {
        received = handovers_.join(received, last);
        return last;
    }
    Handover handover;
    handover.parents[0] = known_[thread];
    handover.parents[1] = last;
    handover.group = group_;
    handover.thread = thread;
    handover.group_before = group_before_;
    if (!strict_) {
        handover.thread_before = ++time_;
        handover.simdgroup_before = simdgroup_before_[thread / MSL_LANES];
    }
    const uint32_t number = handovers_.add(handover);
    received = strict_ ? handovers_.join(received, number) : number;
    return number;
}

void Sight::fence(uint32_t thread) {
    Handover own;
    own.parents[0] = known_[thread];
    own.parents[1] = unfenced_[thread];
    own.group = group_;
    own.thread = thread;
    own.thread_before = ++time_;
    known_[thread] = handovers_.add(own);
    unfenced_[thread] = 0;
    knowing_ = true;
}

void Sight::lanes_met(uint32_t simdgroup, uint32_t lanes, bool all) {
    if (strict_) return;
    if (all) simdgroup_before_[simdgroup] = ++time_;
    if (!knowing_) return;
    uint32_t *known = known_ + simdgroup * MSL_LANES;
    uint32_t both = 0;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
        both = handovers_.join(both, known[__builtin_ctz(rest)]);
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
        known[__builtin_ctz(rest)] = both;
}

void Sight::barrier_passed(uint32_t memory) {
    time_++;
    if (memory & MSL_MEMORY_DEVICE) group_before_ = time_;
    if (!knowing_ || !(memory & MSL_MEMORY_ALL)) return;
    for (uint32_t thread = 0; thread < MSL_MAX_THREADS && memory & MSL_MEMORY_DEVICE; thread++) {
        known_[thread] = handovers_.join(known_[thread], unfenced_[thread]);
        unfenced_[thread] = 0;
    }
    uint32_t both = 0;
    for (uint32_t known : known_)
        both = handovers_.join(both, known);
    std::fill_n(known_, MSL_MAX_THREADS, both);
}

}  // namespace simt
