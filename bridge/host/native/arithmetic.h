// What the kernels' problems count with.
#pragma once

#include <cstdint>

namespace native {

constexpr float LOG2_E = 0x1.715476p0f;

// Not for the kernels: the linker keeps one copy, which might be that of another CPU level.
inline uint32_t divide_up(uint64_t a, uint64_t b) {
    return static_cast<uint32_t>((a + b - 1) / b);
}

}  // namespace native
