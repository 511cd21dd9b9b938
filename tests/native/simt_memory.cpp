// Threadgroup memory: whose it is, and what it holds before anybody writes it.
#include "simt_library.h"
#include "simt_support.h"

#include <vector>

namespace {

struct Report {
    uint32_t dynamic_poison, static_poison, distinct, aligned, absent;
};

uint32_t poisoned(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != 0xff) return 0;
    }
    return 1;
}

constexpr uint32_t LENGTHS[MSL_MAX_BUFFERS] = {16, 0, 20000, 4};

void inspect(const msl_thread *thread) {
    unsigned char *const *memory = thread->threadgroup_memory;
    Report &report = buffer<Report>(thread, 0)[thread->threadgroup_in_grid[0]];
    if (thread->index == 0) {
        report.dynamic_poison = report.aligned = 1;
        for (uint32_t i : {0, 2, 3}) {
            report.dynamic_poison &= poisoned(memory[i], LENGTHS[i]);
            report.aligned &= reinterpret_cast<uintptr_t>(memory[i]) % 64 == 0;
        }
        report.static_poison = poisoned(threadgroup_variables, sizeof threadgroup_variables);
        report.distinct =
            memory[0] + LENGTHS[0] <= memory[2] && memory[2] + LENGTHS[2] <= memory[3];
        report.absent = memory[1] == nullptr && memory[30] == nullptr;
    }
    simt_runtime.barrier(site(1));
    for (uint32_t i : {0, 2, 3})
        memset(memory[i], 7, LENGTHS[i]);
    threadgroup_variables[thread->index] = 7;
}

void memory_is_poisoned_before_each_threadgroup(uint32_t threads) {
    TestPool pool(threads);
    std::vector<Report> reports(50);
    Launch launch(inspect, 50 * 64, 64, {reports.data()});
    memcpy(launch.threadgroup_memory, LENGTHS, sizeof LENGTHS);
    for (int run = 0; run < 2; run++) {
        pool.run(launch);
        for (const Report &report : reports) {
            CHECK(report.dynamic_poison);
            CHECK(report.static_poison);
            CHECK(report.distinct);
            CHECK(report.aligned);
            CHECK(report.absent);
        }
        reports.assign(reports.size(), {});
    }
}

// Threads of one threadgroup see one block, threadgroups that run side by side see two.
void share(const msl_thread *thread) {
    const auto own = static_cast<unsigned char>(thread->threadgroup_in_grid[0]);
    threadgroup_variables[thread->index] = own;
    thread->threadgroup_memory[0][thread->index] = own;
    for (int round = 0; round < 50; round++) {
        simt_runtime.barrier(site(1));
        const uint32_t other = (thread->index + 1) % 128;
        if (threadgroup_variables[other] != own || thread->threadgroup_memory[0][other] != own) {
            buffer<uint32_t>(thread, 0)[thread->thread_in_grid[0]]++;
        }
    }
}

void threadgroups_side_by_side_do_not_share() {
    TestPool pool(4);
    std::vector<uint32_t> mixed(40 * 128);
    Launch launch(share, 40 * 128, 128, {mixed.data()});
    launch.threadgroup_memory[0] = 128;
    pool.run(launch);
    for (uint32_t count : mixed)
        CHECK_EQUAL(count, 0);
}

// Each asks for another amount, and keeps it until it waits.
void borrow(const msl_thread *thread) {
    for (uint32_t round = 0; round < 3; round++) {
        const size_t bytes = 1 + (thread->index * 977 + round) % 5000;
        auto *memory = static_cast<unsigned char *>(simt_runtime.scratch(bytes));
        const auto own = static_cast<unsigned char>(thread->thread_in_grid[0]);
        memset(memory, own, bytes);
        uint32_t kept = reinterpret_cast<uintptr_t>(memory) % MSL_SCRATCH_ALIGNMENT == 0;
        for (size_t i = 0; i < bytes; i++)
            kept &= memory[i] == own;
        buffer<uint32_t>(thread, 0)[thread->thread_in_grid[0]] += kept;
        simt_runtime.barrier(site(1));
    }
}

void scratch_memory_is_the_running_threads() {
    TestPool pool(3);
    std::vector<uint32_t> kept(30 * 96);
    pool.run(Launch(borrow, 30 * 96, 96, {kept.data()}));
    for (uint32_t count : kept)
        CHECK_EQUAL(count, 3);
}

constexpr size_t PRIVATE_BYTES = 60 * 1024;

__attribute__((noinline)) void fill(volatile unsigned char *bytes, unsigned char value) {
    for (size_t i = 0; i < PRIVATE_BYTES; i += 64)
        bytes[i] = value;
}

void use_the_stack(const msl_thread *thread) {
    volatile unsigned char bytes[PRIVATE_BYTES];
    const auto own = static_cast<unsigned char>(thread->index * 31);
    fill(bytes, own);
    simt_runtime.barrier(site(1));
    uint32_t kept = 1;
    for (size_t i = 0; i < PRIVATE_BYTES; i += 64)
        kept &= bytes[i] == own;
    buffer<uint32_t>(thread, 0)[thread->index] = kept;
}

void every_thread_has_sixty_kilobytes_of_its_own() {
    TestPool pool(1);
    for (uint32_t threads : {32u, 1024u, 64u}) {
        std::vector<uint32_t> kept(threads);
        pool.run(Launch(use_the_stack, threads, threads, {kept.data()}));
        for (uint32_t value : kept)
            CHECK_EQUAL(value, 1);
    }
}

}  // namespace

int main() {
    memory_is_poisoned_before_each_threadgroup(1);
    memory_is_poisoned_before_each_threadgroup(3);
    threadgroups_side_by_side_do_not_share();
    every_thread_has_sixty_kilobytes_of_its_own();
    scratch_memory_is_the_running_threads();
}
