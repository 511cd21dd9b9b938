#include "handover.h"

#include <algorithm>

namespace simt {
namespace {

constexpr uint32_t FIRST_SIMDGROUP = MSL_MAX_THREADS, ALL = ALL_THREADS;

uint64_t key(uint32_t group, uint32_t who) {
    return uint64_t{group} << 32 | who;
}

uint32_t simdgroup(uint32_t thread) {
    return FIRST_SIMDGROUP + thread / MSL_LANES;
}

}  // namespace

uint32_t Handovers::add(const Handover &handover) {
    handovers_.push_back(handover);
    return forgotten_ + static_cast<uint32_t>(handovers_.size());
}

uint32_t Handovers::join(uint32_t one, uint32_t other) {
    one = known(one);
    other = known(other);
    if (one == other || other == 0) return one;
    if (one == 0) return other;
    Handover both;
    both.parents[0] = one;
    both.parents[1] = other;
    return add(both);
}

void Handovers::note(const Handover &handover) {
    if (handover.group == 0) return;
    const auto raise = [&](uint32_t who, uint32_t before) {
        uint32_t &time = times_[key(handover.group, who)];
        time = std::max(time, before);
    };
    raise(handover.thread, handover.thread_before);
    raise(simdgroup(handover.thread), handover.simdgroup_before);
    raise(ALL, handover.group_before);
}

const Handovers::Times &Handovers::times(uint32_t number) {
    if (gathered_ == number) return times_;
    times_.clear();
    gathered_ = number;
    std::vector<bool> found(number - forgotten_ + 1);
    std::vector<uint32_t> left = {number};
    while (!left.empty()) {
        const uint32_t next = left.back();
        left.pop_back();
        if (known(next) == 0 || found[next - forgotten_]) continue;
        found[next - forgotten_] = true;
        note(at(next));
        left.insert(left.end(), at(next).parents, at(next).parents + 2);
    }
    return times_;
}

bool Handovers::cover(uint32_t number, const Access &access) {
    if (known(number) == 0) return false;
    const Times &all = times(number);
    for (uint32_t who : {ALL, simdgroup(access.thread), uint32_t{access.thread}}) {
        const auto time = all.find(key(access.group, who));
        if (time != all.end() && access.time < time->second) return true;
    }
    return false;
}

bool Handovers::reach(uint32_t number, uint32_t group) {
    return known(number) != 0 && times(number).count(key(group, ALL)) != 0;
}

void Handovers::forget() {
    forgotten_ += static_cast<uint32_t>(handovers_.size());
    handovers_.clear();
    times_.clear();
    gathered_ = 0;
}

}  // namespace simt
