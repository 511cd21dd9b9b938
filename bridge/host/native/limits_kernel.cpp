// What the vectors of a CPU level do at most: the limits that benchmarks compare with.
#include "level_functions.h"
#include "vector.h"

namespace {

// Independent, so that none waits for itself; with the operands they fit in the registers.
constexpr int CHAINS = 12;
constexpr int STREAMS = 8;

// The compiler neither knows the value from here on nor may leave it out.
#if defined(__x86_64__)
#define OPAQUE(x) __asm__ volatile("" : "+x"(x))
#else
#define OPAQUE(x) __asm__ volatile("" : "+w"(x))
#endif

typedef uint64_t words __attribute__((vector_size(sizeof(wide))));

}  // namespace

namespace native::NATIVE_LEVEL {

double multiply_add(uint64_t rounds) {
    wide factor = Wide::broadcast(0.5f), term = Wide::broadcast(1), sums[CHAINS];
    // Equal chains would be made one.
    for (wide &sum : sums) {
        sum = term;
        OPAQUE(sum);
    }
    for (uint64_t n = 0; n < rounds; n++) {
        OPAQUE(factor);
        OPAQUE(term);
        for (wide &sum : sums)
            sum = Wide::multiply_add(sum, factor, term);
    }
    for (wide &sum : sums)
        OPAQUE(sum);
    return 2.0 * CHAINS * Wide::LANES * static_cast<double>(rounds);
}

// From two places at a time, as keys and values are.
void read(const void *memory, size_t bytes) {
    constexpr size_t STEP = STREAMS / 2 * sizeof(words);
    static_assert(READ_UNIT % (2 * STEP) == 0, "nothing may be left over");
    const size_t half = bytes / 2;
    const char *first = static_cast<const char *>(memory), *second = first + half;
    words seen[STREAMS] = {};
    for (size_t at = 0; at < half; at += STEP) {
        for (int i = 0; i < STREAMS; i++) {
            const char *from = (i % 2 == 0 ? first : second) + at + i / 2 * sizeof(words);
            words x;
            __builtin_memcpy(&x, from, sizeof x);
            seen[i] ^= x;
        }
    }
    for (words &x : seen)
        OPAQUE(x);
}

}  // namespace native::NATIVE_LEVEL
