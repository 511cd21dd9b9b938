#include "launch.h"

#include <algorithm>

namespace simt {
namespace {

uint64_t multiply_saturated(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

}  // namespace

Grid::Grid(const simt_launch &launch) : launch_(launch), count_(1) {
    for (int k = 0; k < 3; k++) {
        const uint64_t size = launch.threads_per_threadgroup[k];
        threadgroups_[k] = static_cast<uint32_t>((launch.threads[k] + size - 1) / size);
        count_ = multiply_saturated(count_, threadgroups_[k]);
    }
}

void Grid::position(uint64_t n, uint32_t at[3]) const {
    at[0] = static_cast<uint32_t>(n % threadgroups_[0]);
    at[1] = static_cast<uint32_t>(n / threadgroups_[0] % threadgroups_[1]);
    at[2] = static_cast<uint32_t>(n / threadgroups_[0] / threadgroups_[1]);
}

void Grid::size(const uint32_t at[3], uint32_t threads[3]) const {
    for (int k = 0; k < 3; k++) {
        const uint32_t whole = launch_.threads_per_threadgroup[k];
        const uint64_t first = uint64_t{at[k]} * whole;
        threads[k] = static_cast<uint32_t>(std::min<uint64_t>(whole, launch_.threads[k] - first));
    }
}

}  // namespace simt
