// How a grid of threads splits into threadgroups.
#pragma once
#include "simt.h"

namespace simt {

class Grid {
  public:
    explicit Grid(const simt_launch &launch);

    // Threadgroups, saturated at 2^64 - 1.
    uint64_t count() const { return count_; }
    uint32_t threadgroups(int dimension) const { return threadgroups_[dimension]; }
    // Position of threadgroup `n` in the grid.
    void position(uint64_t n, uint32_t at[3]) const;
    // Threads of the threadgroup at a position: fewer than dispatched at the far edges.
    void size(const uint32_t at[3], uint32_t threads[3]) const;

  private:
    const simt_launch &launch_;
    uint32_t threadgroups_[3];
    uint64_t count_;
};

}  // namespace simt
