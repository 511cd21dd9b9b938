// What atomics hand over between threads: whoever reads a location after others have written it
// knows that what these had done before is done.
#pragma once
#include "access.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace simt {

// Made where a thread writes a location, and numbered from 1 on; 0: none. It says that what was
// done before these times is done, and so is all that its parents say.
struct Handover {
    uint32_t parents[2] = {};
    uint32_t group = 0;  // 0: it only joins its parents
    uint32_t thread = 0;
    uint32_t thread_before = 0;
    uint32_t simdgroup_before = 0;  // by all threads of the thread's SIMD-group
    uint32_t group_before = 0;      // by all threads of the threadgroup
};

class Handovers {
  public:
    uint32_t add(const Handover &handover);
    // One that says what both say.
    uint32_t join(uint32_t one, uint32_t other);

    // Whether `number` says that the access is done.
    bool cover(uint32_t number, const Access &access);
    // Whether it says anything of a threadgroup.
    bool reach(uint32_t number, uint32_t group);

    // 0 for one that has been forgotten.
    uint32_t known(uint32_t number) const { return number > forgotten_ ? number : 0; }
    uint32_t group_of(uint32_t number) const { return known(number) != 0 ? at(number).group : 0; }
    size_t count() const { return handovers_.size(); }
    void forget();

  private:
    // By threadgroup, and within it by thread, by SIMD-group or for all: the time.
    using Times = std::unordered_map<uint64_t, uint32_t>;

    const Handover &at(uint32_t number) const { return handovers_[number - forgotten_ - 1]; }
    // All that one says. Few are ever asked for, and then often: it is kept for the last one.
    const Times &times(uint32_t number);
    void note(const Handover &handover);

    std::vector<Handover> handovers_;
    uint32_t forgotten_ = 0;  // those up to this number
    uint32_t gathered_ = 0;   // whose times are there
    Times times_;
};

}  // namespace simt
