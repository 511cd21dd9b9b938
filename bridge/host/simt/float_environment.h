// The floating-point environment of kernels: rounding to nearest, no traps, denormals kept (as the
// reference does; Metal leaves them to the GPU). The caller's is put back, with its sticky flags.
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace simt {

class FloatEnvironment {
  public:
    FloatEnvironment() : callers_(read()) { write(DEFAULT); }
    FloatEnvironment(const FloatEnvironment &) = delete;
    FloatEnvironment &operator=(const FloatEnvironment &) = delete;
    ~FloatEnvironment() { write(callers_); }

  private:
#if defined(__x86_64__)
    using Word = unsigned;
    static constexpr Word DEFAULT = 0x1f80;  // MXCSR at process start: all exceptions masked
    static Word read() { return _mm_getcsr(); }
    static void write(Word word) { _mm_setcsr(word); }
#elif defined(__aarch64__)
    using Word = uint64_t;
    static constexpr Word DEFAULT = 0;  // FPCR at process start
    static Word read() {
        Word word;
        __asm__ volatile("mrs %0, fpcr" : "=r"(word));
        return word;
    }
    static void write(Word word) { __asm__ volatile("msr fpcr, %0" ::"r"(word)); }
#endif

    Word callers_;
};

}  // namespace simt
