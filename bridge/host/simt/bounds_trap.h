// The traps of the compiler's bounds checks, which have a number: llvm.ubsantrap, where those of
// code that nothing leads to have none.
#pragma once
#include <cstdint>

namespace simt {

// Of an instruction that has just trapped. Reads no byte that is not part of it.
inline bool is_bounds_trap(uint64_t instruction) {
#if defined(__x86_64__)
    constexpr uint8_t UD1[] = {0x67, 0x0f, 0xb9, 0x40};  // ud1l NUMBER(%eax), %eax
    const auto *bytes = reinterpret_cast<const uint8_t *>(instruction);
    for (uint8_t byte : UD1)
        if (*bytes++ != byte) return false;
    return true;
#elif defined(__aarch64__)
    constexpr uint32_t BRK = 0xd4200000, NUMBERED = 0x5500;  // brk #(0x5500 + NUMBER)
    return (*reinterpret_cast<const uint32_t *>(instruction) & ~(0xffu << 5)) ==
           (BRK | NUMBERED << 5);
#endif
}

}  // namespace simt
