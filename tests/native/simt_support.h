// What the tests of the SIMT engine share: checks, and launches of kernels written in C++.
#pragma once
#include "simt.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define CHECK_EQUAL(actual, expected) check_equal(actual, expected, #actual, __FILE__, __LINE__)

template <class Actual, class Expected>
void check_equal(Actual actual, Expected expected, const char *text, const char *file, int line) {
    const auto a = static_cast<long long>(actual), e = static_cast<long long>(expected);
    if (a == e) return;
    fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", file, line, text, a, e);
    exit(1);
}

// A site as the compiler numbers them.
constexpr uint64_t site(uint64_t line, uint64_t column = 1) {
    return line << MSL_SITE_COLUMN_BITS | column;
}

constexpr simt_order ORDERS[] = {SIMT_HIGHEST_FIRST, SIMT_LOWEST_FIRST, SIMT_RANDOM};

using Entry = void (*)(const msl_thread *);

// A launch of one kernel, with pointers bound in order.
struct Launch : simt_launch {
    Launch(Entry entry, uint32_t threads, uint32_t threadgroup, std::initializer_list<void *> bound,
           const char *name = "kernel")
        : simt_launch{}, described{} {
        described.name = name;
        described.entry = entry;
        kernel = &described;
        uint32_t index = 0;
        for (void *pointer : bound)
            buffers[index++] = pointer;
        set(threads, 1, 1, threadgroup, 1, 1);
    }
    Launch(const Launch &) = delete;
    Launch &operator=(const Launch &) = delete;

    void set(uint32_t x, uint32_t y, uint32_t z, uint32_t width, uint32_t height, uint32_t depth) {
        const uint32_t grid[] = {x, y, z}, group[] = {width, height, depth};
        memcpy(this->threads, grid, sizeof grid);
        memcpy(threads_per_threadgroup, group, sizeof group);
    }

    msl_kernel described;
};

// A pool that ends with its scope.
struct TestPool {
    explicit TestPool(uint32_t threads = 1) : pool(simt_pool_create(threads)) {}
    TestPool(const TestPool &) = delete;
    TestPool &operator=(const TestPool &) = delete;
    ~TestPool() { simt_pool_release(pool); }

    void run(const Launch &launch) {
        simt_fault fault;
        if (simt_run(pool, &launch, &fault) == SIMT_FAULT_NONE) return;
        fprintf(stderr, "unexpected fault: %s\n", fault.message);
        exit(1);
    }
    simt_fault fault_of(const Launch &launch) {
        simt_fault fault;
        const simt_fault_kind kind = simt_run(pool, &launch, &fault);
        CHECK_EQUAL(kind, fault.kind);
        return fault;
    }

    simt_pool *pool;
};

inline bool says(const simt_fault &fault, const char *text) {
    return strstr(fault.message, text) != nullptr;
}

template <class T> T *buffer(const msl_thread *thread, int index) {
    return static_cast<T *>(thread->buffers[index]);
}

// The other half of a SIMD-group operation: every operand, once the lanes have met.
template <class T> const msl_exchange *exchange(uint32_t at, T operand) {
    uint32_t lane;
    msl_exchange *meeting = simt_runtime.simd_begin(&lane);
    memcpy(meeting->in + lane * MSL_EXCHANGE_BYTES, &operand, sizeof operand);
    simt_runtime.simd_wait(at, sizeof operand);
    return meeting;
}

// Adds over the lanes that take part, as a compiled simd_sum does.
template <class T> T simd_sum(uint32_t at, T operand) {
    const msl_exchange *meeting = exchange(at, operand);
    T sum = 0;
    for (uint32_t lane = 0; lane < MSL_LANES; lane++) {
        T value;
        memcpy(&value, meeting->op + lane * sizeof value, sizeof value);
        if (meeting->mask >> lane & 1) sum += value;
    }
    return sum;
}
