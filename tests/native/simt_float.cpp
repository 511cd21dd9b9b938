// Kernels round to nearest and keep denormals, whatever the caller's modes are.
#include "simt_support.h"

#include <cfenv>
#include <cfloat>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

struct Sample {
    float third, denormal;
};

float divide(volatile float a, volatile float b) {
    return a / b;
}

void sample(const msl_thread *thread) {
    Sample &mine = buffer<Sample>(thread, 0)[thread->thread_in_grid[0]];
    mine.third = divide(1, 3);
    simt_runtime.barrier(site(1));
    mine.denormal = divide(FLT_MIN, 4);
}

void check_samples(TestPool &pool) {
    std::vector<Sample> out(512);
    pool.run(Launch(sample, 512, 32, {out.data()}));
    for (const Sample &mine : out) {
        CHECK(mine.third == 1.0f / 3);
        CHECK(mine.denormal == FLT_MIN / 4);
    }
}

void rounding_of_the_caller_is_not_inherited(TestPool &pool) {
    for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        fesetround(mode);
        check_samples(pool);
        CHECK_EQUAL(fegetround(), mode);
    }
    fesetround(FE_TONEAREST);
}

void flags_of_the_caller_are_left_alone(TestPool &pool) {
    feclearexcept(FE_ALL_EXCEPT);
    check_samples(pool);
    CHECK_EQUAL(fetestexcept(FE_ALL_EXCEPT), 0);
    feraiseexcept(FE_OVERFLOW);
    check_samples(pool);
    CHECK(fetestexcept(FE_OVERFLOW) != 0);
}

void denormals_are_kept(TestPool &pool) {
#if defined(__x86_64__)
    constexpr unsigned FLUSH_TO_ZERO = 0x8040;
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | FLUSH_TO_ZERO);
    check_samples(pool);
    CHECK_EQUAL(_mm_getcsr() & FLUSH_TO_ZERO, FLUSH_TO_ZERO);
    _mm_setcsr(before);
#else
    check_samples(pool);
#endif
}

}  // namespace

int main() {
    for (uint32_t threads : {1, 3}) {
        TestPool pool(threads);
        rounding_of_the_caller_is_not_inherited(pool);
        flags_of_the_caller_are_left_alone(pool);
        denormals_are_kept(pool);
    }
}
