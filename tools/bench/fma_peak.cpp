#include "fma_peak.h"

namespace bench {
namespace {

constexpr int CHAINS = 12;  // independent, to hide the latency; they fit in 16 registers
constexpr int STEPS = 1'000'000;
volatile float sink;

template <int BYTES> struct Vector {
    typedef float type __attribute__((vector_size(BYTES)));
};

// Inlined where the target has registers of that width.
template <int BYTES> inline __attribute__((always_inline)) double run() {
    using V = typename Vector<BYTES>::type;
    V factor = V{} + sink, term = V{} + sink;
    V sums[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        sums[i] = term + static_cast<float>(i);  // equal chains would be made one
    for (int step = 0; step < STEPS; step++) {
        __asm__ volatile("" : "+x"(factor), "+x"(term));
        for (V &sum : sums)
            sum = sum * factor + term;
    }
    V total = {};
    for (const V &sum : sums)
        total += sum;
    sink = total[0];
    return 2.0 * STEPS * CHAINS * (BYTES / sizeof(float));
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) double widest() {
    return run<64>();
}
__attribute__((target("avx2,fma"))) double wide() {
    return run<32>();
}
#endif

}  // namespace

double multiply_and_add() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return widest();
    if (__builtin_cpu_supports("fma")) return wide();
#endif
    return run<16>();
}

}  // namespace bench
