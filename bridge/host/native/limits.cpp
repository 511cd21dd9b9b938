// What the CPU does at most, for benchmarks.
#include "levels.h"
#include "native.h"

#include <algorithm>
#include <chrono>
#include <memory>

namespace native {
namespace {

constexpr uint64_t ROUNDS = 1000000;
// Read so much at least that starting threads does not count.
constexpr uint64_t LEAST_BYTES = uint64_t{256} << 20;

struct Release {
    void operator()(simt_pool *pool) const { simt_pool_release(pool); }
};

double seconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

// Seconds that a task of each thread takes, side by side; 0: no memory.
double time_tasks(uint32_t threads, simt_task task, void *context) {
    const std::unique_ptr<simt_pool, Release> pool(simt_pool_create(threads));
    if (!pool) return 0;
    // The threads start with the first work.
    simt_pool_for(pool.get(), threads, [](void *, uint32_t) {}, nullptr);
    const double start = seconds();
    simt_pool_for(pool.get(), threads, task, context);
    return seconds() - start;
}

struct Reading {
    const char *memory;
    size_t bytes;  // of each thread
    uint64_t rounds;
};

}  // namespace
}  // namespace native

double native_multiply_adds(uint32_t threads) {
    double operations = 0;
    const auto work = [](void *context, uint32_t i) {
        const double done = native::levels().front()->multiply_add(native::ROUNDS);
        if (i == 0) *static_cast<double *>(context) = done;
    };
    const double taken = native::time_tasks(threads, work, &operations);
    return taken > 0 ? operations * threads / taken * 1e-9 : 0;
}

double native_read_rate(const void *memory, size_t bytes, uint32_t threads) {
    const size_t each = bytes / threads / native::READ_UNIT * native::READ_UNIT;
    if (each == 0) return 0;
    native::Reading reading = {static_cast<const char *>(memory), each,
                               std::max<uint64_t>(2, native::LEAST_BYTES / bytes)};
    const auto work = [](void *context, uint32_t i) {
        const auto &reading = *static_cast<native::Reading *>(context);
        for (uint64_t round = 0; round < reading.rounds; round++)
            native::levels().front()->read(reading.memory + i * reading.bytes, reading.bytes);
    };
    const double taken = native::time_tasks(threads, work, &reading);
    const double read = static_cast<double>(each) * threads * static_cast<double>(reading.rounds);
    return taken > 0 ? read / taken * 1e-9 : 0;
}
