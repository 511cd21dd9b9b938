// What would kill a process ends a launch, is told in words, and leaves the pool usable.
#include "simt_library.h"
#include "simt_support.h"

#include <csignal>
#include <fstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

// The faults are meant to reach the processor, not a sanitizer.
#if defined(__clang__)
#define AS_WRITTEN __attribute__((noinline, optnone, no_sanitize("all")))
#else
#define AS_WRITTEN __attribute__((noinline, optimize("O0"), no_sanitize("address", "undefined")))
#endif

// A request that cannot be met is part of the test.
extern "C" const char *__asan_default_options() {
    return "allocator_may_return_null=1";
}

namespace {

constexpr uint32_t SIZE = 64, GROUPS = 3, CULPRIT = 130;  // thread 2 of threadgroup 2

bool culprit(const msl_thread *thread) {
    return thread->thread_in_grid[0] == CULPRIT;
}

AS_WRITTEN OF_SOURCE void write_wildly(const msl_thread *thread) {
    simt_runtime.barrier(site(1));
    if (culprit(thread)) *reinterpret_cast<volatile int *>(0x10000) = 1;
    simt_runtime.barrier(site(2));
}

AS_WRITTEN OF_SOURCE void read_past_the_end(const msl_thread *thread) {
    volatile const unsigned char *bytes = buffer<unsigned char>(thread, 1);
    if (culprit(thread)) (void)bytes[4096 + 24];
}

#if defined(__x86_64__)  // others tell the address, and divide by zero
AS_WRITTEN OF_SOURCE void use_no_address(const msl_thread *thread) {
    if (culprit(thread)) *reinterpret_cast<volatile int *>(0x8000000000000000) = 1;
}

AS_WRITTEN OF_SOURCE void divide_by_zero(const msl_thread *thread) {
    volatile int number = 7, zero = 0;
    if (culprit(thread)) number = number / zero;
}
#endif

AS_WRITTEN OF_SOURCE int descend(volatile int *depth) {
    volatile int frame[256];
    frame[0] = *depth + 1;
    return *depth < 0 ? 0 : descend(frame) + frame[0];
}

AS_WRITTEN OF_SOURCE void overflow_the_stack(const msl_thread *thread) {
    simt_runtime.barrier(site(1));
    volatile int depth = 0;
    if (culprit(thread)) descend(&depth);
}

AS_WRITTEN OF_SOURCE void reach_the_unreachable(const msl_thread *thread) {
    if (culprit(thread)) __builtin_trap();
}

// As a check of the compiler's does.
AS_WRITTEN OF_SOURCE void leave_an_array(const msl_thread *thread) {
#if defined(__x86_64__)
    if (culprit(thread)) asm volatile("ud1l 5(%eax), %eax");
#else
    if (culprit(thread)) asm volatile("brk #0x5505");
#endif
}

// As the C library's functions: no source names their lines.
AS_WRITTEN void write_there(volatile int *there) {
    volatile int values[100];
    values[99] = 1;
    *there = values[99];
}

AS_WRITTEN OF_SOURCE void call_wildly(const msl_thread *thread) {
    simt_runtime.barrier(site(1));
    if (culprit(thread)) write_there(reinterpret_cast<volatile int *>(0x10000));
}

// Its own frames too: there is no way back to a caller.
AS_WRITTEN void destroy_the_stack(const msl_thread *thread) {
    auto *frame = static_cast<volatile uintptr_t *>(__builtin_frame_address(0));
    if (!culprit(thread)) return;
    for (;;)
        *frame++ = 0x10000;
}

void add_one(const msl_thread *thread) {
    simt_runtime.barrier(site(1));
    buffer<uint32_t>(thread, 0)[thread->thread_in_grid[0]]++;
}

void check_usable(TestPool &pool) {
    std::vector<uint32_t> out(GROUPS * SIZE);
    pool.run(Launch(add_one, GROUPS * SIZE, SIZE, {out.data()}));
    for (uint32_t value : out)
        CHECK_EQUAL(value, 1);
}

void expect(TestPool &pool, Entry entry, const char *text) {
    auto *page = static_cast<char *>(
        mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK_EQUAL(mprotect(page + 4096, 4096, PROT_NONE), 0);
    uint32_t unused[1];
    Launch launch(entry, GROUPS * SIZE, SIZE, {unused, page}, "wild");
    launch.buffer_lengths[0] = sizeof unused;
    launch.buffer_lengths[1] = 4096;
    const simt_fault fault = pool.fault_of(launch);
    CHECK_EQUAL(fault.kind, SIMT_FAULT_PAGE);
    CHECK(says(fault, "kernel 'wild': threadgroup (2, 0, 0), thread (2, 0, 0) "));
    if (!says(fault, text)) fprintf(stderr, "message: %s\n", fault.message);
    CHECK(says(fault, text));
    munmap(page, 8192);
    check_usable(pool);
}

void faults_of_kernels_end_the_launch(TestPool &pool) {
    expect(pool, write_wildly, "at source:7 touched memory that is not there, at 0x10000");
    expect(pool, read_past_the_end, "24 bytes past the end of buffer(1)");
    expect(pool, overflow_the_stack, "at source:7 ran out of stack: 65536 bytes");
    expect(pool, call_wildly, "at source:7 touched memory that is not there, at 0x10000");
    expect(pool, destroy_the_stack, ") ran outside a private array");
    expect(pool, reach_the_unreachable,
           "at source:7 reached code that the compiler took for unreachable");
    expect(pool, leave_an_array, "at source:7 ran outside a private array or a constant table");
#if defined(__x86_64__)
    expect(pool, divide_by_zero, "at source:7 divided an integer by zero");
    expect(pool, use_no_address, "used an address that is misaligned or that no process has");
#endif
}

void break_a_rule(const msl_thread *thread) {
    simt_runtime.barrier(site(1));
    if (culprit(thread)) simt_runtime.misuse(site(9, 4), "did what it must not");
}

void want_too_much(const msl_thread *thread) {
    if (culprit(thread)) simt_runtime.scratch(~size_t{0} - 4096);
}

void what_the_headers_find_ends_the_launch(TestPool &pool) {
    const simt_fault rule = pool.fault_of(Launch(break_a_rule, GROUPS * SIZE, SIZE, {}, "wild"));
    CHECK_EQUAL(rule.kind, SIMT_FAULT_MISUSE);
    CHECK(says(rule, "kernel 'wild': threadgroup (2, 0, 0), thread (2, 0, 0) at line 9: did what "
                     "it must not"));
    check_usable(pool);
    const simt_fault memory = pool.fault_of(Launch(want_too_much, GROUPS * SIZE, SIZE, {}));
    CHECK_EQUAL(memory.kind, SIMT_FAULT_OUT_OF_MEMORY);
    check_usable(pool);
}

void a_long_name_is_clipped(TestPool &pool) {
    const std::vector<char> name(1000, 'n');
    Launch launch(write_wildly, GROUPS * SIZE, SIZE, {}, "");
    std::vector<char> text(name);
    text.push_back('\0');
    launch.described.name = text.data();
    CHECK(says(pool.fault_of(launch), "': threadgroup (2, 0, 0)"));
}

// Room for what a sanitizer allocates meanwhile, not for a thousand stacks.
rlim_t little_more_than_now() {
    size_t pages;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + 32 * 1024 * 1024;
}

void a_launch_without_memory_is_refused_whole() {
    TestPool pool(1);
    check_usable(pool);
    rlimit before, tight, now;
    CHECK_EQUAL(getrlimit(RLIMIT_AS, &before), 0);
    tight = before;
    tight.rlim_cur = little_more_than_now();
    uint32_t ran[MSL_MAX_THREADS] = {};
    const Launch launch(add_one, MSL_MAX_THREADS, MSL_MAX_THREADS, {ran}, "wide");
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &tight), 0);
    CHECK_EQUAL(getrlimit(RLIMIT_AS, &now), 0);
    if (now.rlim_cur != tight.rlim_cur) return;  // an emulator, which keeps its own
    const simt_fault fault = pool.fault_of(launch);
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &before), 0);
    CHECK_EQUAL(fault.kind, SIMT_FAULT_OUT_OF_MEMORY);
    CHECK(says(fault, "kernel 'wide': no memory for a threadgroup of 1024 threads"));
    for (uint32_t count : ran)
        CHECK_EQUAL(count, 0);
    pool.run(launch);
    for (uint32_t count : ran)
        CHECK_EQUAL(count, 1);
}

void a_fault_concerns_its_own_launch_only() {
    TestPool pool(3);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; caller++) {
        callers.emplace_back([&pool, caller] {
            for (int run = 0; run < 20; run++) {
                check_usable(pool);
                const Launch launch(write_wildly, GROUPS * SIZE, SIZE, {});
                if (caller % 2 == 0) CHECK_EQUAL(pool.fault_of(launch).kind, SIMT_FAULT_PAGE);
            }
        });
    }
    for (std::thread &caller : callers)
        caller.join();
}

void handler_before(int) {
    _exit(42);
}

AS_WRITTEN void fault_here() {
    *reinterpret_cast<volatile int *>(0x10000) = 1;
}

int exit_status(void (*in_child)()) {
    const pid_t child = fork();
    if (child == 0) {
        in_child();
        _exit(0);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    return status;
}

void faults_elsewhere_reach_the_handler_before() {
    int status = exit_status(fault_here);
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 42);
    status = exit_status([] { raise(SIGSEGV); });
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 42);
}

void without_a_handler_before_the_process_ends() {
    const int status = exit_status([] { raise(SIGBUS); });
    CHECK(WIFSIGNALED(status));
    CHECK_EQUAL(WTERMSIG(status), SIGBUS);
}

void the_thread_keeps_its_own_signal_stack(TestPool &pool) {
    stack_t before, after;
    sigaltstack(nullptr, &before);
    check_usable(pool);
    sigaltstack(nullptr, &after);
    CHECK(before.ss_sp == after.ss_sp);
    CHECK_EQUAL(before.ss_flags, after.ss_flags);
}

}  // namespace

int main() {
    signal(SIGSEGV, handler_before);
    signal(SIGBUS, SIG_DFL);
    for (uint32_t threads : {1, 3}) {
        TestPool pool(threads);
        faults_of_kernels_end_the_launch(pool);
        what_the_headers_find_ends_the_launch(pool);
        a_long_name_is_clipped(pool);
        the_thread_keeps_its_own_signal_stack(pool);
    }
    a_launch_without_memory_is_refused_whole();
    a_fault_concerns_its_own_launch_only();
    faults_elsewhere_reach_the_handler_before();
    without_a_handler_before_the_process_ends();
}
