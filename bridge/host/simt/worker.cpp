#include "worker.h"
#include "check/instrument.h"
#include "check/simt_checker.h"
#include "fault.h"
#include "float_environment.h"
#include "time_limit.h"

#include <algorithm>
#include <cstring>

namespace simt {
namespace {

constexpr size_t CACHE_LINE = 64;
// NaN in every floating-point type: shows what is read before it is written.
constexpr int POISON = 0xff;

size_t whole_lines(size_t bytes) {
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

// All of a thread's identity that is the same throughout a threadgroup.
msl_thread common_to_threads(const Job &job, const uint32_t size[3]) {
    msl_thread thread = {};
    for (int k = 0; k < 3; k++) {
        thread.threads_per_threadgroup[k] = size[k];
        thread.dispatch_threads_per_threadgroup[k] = job.launch.threads_per_threadgroup[k];
        thread.threadgroups_per_grid[k] = job.grid.threadgroups(k);
        thread.threads_per_grid[k] = job.launch.threads[k];
    }
    thread.buffers = job.launch.buffers;
    return thread;
}

// What only shows at the end of a threadgroup.
void check_end(Threadgroup &group) {
    if (group.incident.kind != SIMT_FAULT_NONE) return;
    if (const Finding *finding = group.checker->end_threadgroup()) check_found(group, *finding);
}

}  // namespace

bool Worker::allocate_memory(const simt_launch &launch) {
    memory_bytes_ = 0;
    for (uint32_t bytes : launch.threadgroup_memory)
        memory_bytes_ += whole_lines(bytes);
    if (memory_bytes_ > memory_capacity_) {
        memory_capacity_ = 0;
        void *bytes = std::aligned_alloc(CACHE_LINE, memory_bytes_);
        memory_.reset(static_cast<unsigned char *>(bytes));
        if (!memory_) return false;
        memory_capacity_ = memory_bytes_;
    }
    unsigned char *next = memory_.get();
    for (int i = 0; i < MSL_MAX_BUFFERS; i++) {
        const uint32_t bytes = launch.threadgroup_memory[i];
        arguments_[i] = bytes != 0 ? next : nullptr;
        next += whole_lines(bytes);
    }
    return true;
}

bool Worker::prepare(const simt_launch &launch) {
    const uint32_t *size = launch.threads_per_threadgroup;
    const uint32_t threads = size[0] * size[1] * size[2];
    if (!stacks_.reserve(threads, threadgroup_fiber) || !allocate_memory(launch)) return false;
    variables_ = msl_library_threadgroup_block(launch.library, &variable_bytes_);
    group_.order = launch.order;
    group_.entry = launch.kernel->entry;
    group_.fibers = stacks_.fibers();
    group_.stacks = stacks_.annotations();
    group_.scratch = &scratch_;
    group_.checker = launch.checker;
    if (launch.checker != nullptr) check_dispatch(launch);
    std::fill(laid_out_, laid_out_ + 3, 0u);
    return true;
}

void Worker::check_dispatch(const simt_launch &launch) {
    MemoryMap &map = launch.checker->begin_dispatch(launch, stacks_);
    for (uint32_t i = 0; i < launch.kernel->binding_count; i++) {
        const msl_binding &binding = launch.kernel->bindings[i];
        if (binding.kind != MSL_BINDING_THREADGROUP_MEMORY) continue;
        map.add(MemoryKind::ThreadgroupArgument, arguments_[binding.index],
                launch.threadgroup_memory[binding.index], &binding);
    }
    const msl_variable *variables;
    const size_t count = msl_library_threadgroup_variables(launch.library, &variables);
    for (size_t i = 0; i < count; i++) {
        map.add(MemoryKind::ThreadgroupVariable,
                static_cast<unsigned char *>(variables_) + variables[i].offset, variables[i].bytes,
                nullptr, variables[i].name);
    }
    size_t image_bytes;
    const void *image = msl_library_image(launch.library, &image_bytes);
    map.add(MemoryKind::Private, image, image_bytes);
    // Of the engine's own, what kernels look at.
    map.add(MemoryKind::Private, group_.thread, sizeof group_.thread);
    map.add(MemoryKind::Private, group_.exchange, sizeof group_.exchange);
    map.add(MemoryKind::Private, group_.cooperating, sizeof group_.cooperating);
    map.add(MemoryKind::Private, arguments_, sizeof arguments_);
    map.add(MemoryKind::Private, &launch, sizeof launch);
    launch.checker->dispatch_mapped();
}

void Worker::lay_out(const Job &job, const uint32_t size[3]) {
    if (std::equal(size, size + 3, laid_out_)) return;
    std::copy(size, size + 3, laid_out_);
    group_.threads = size[0] * size[1] * size[2];
    group_.simdgroups = (group_.threads + MSL_LANES - 1) / MSL_LANES;
    msl_thread thread = common_to_threads(job, size);
    thread.simdgroups = group_.simdgroups;
    thread.threadgroup_memory = arguments_;
    uint32_t(&at)[3] = thread.thread_in_threadgroup;
    for (at[2] = 0; at[2] < size[2]; at[2]++) {
        for (at[1] = 0; at[1] < size[1]; at[1]++) {
            for (at[0] = 0; at[0] < size[0]; at[0]++) {
                thread.lane = thread.index % MSL_LANES;
                thread.simdgroup = thread.index / MSL_LANES;
                thread.exchange = &group_.exchange[thread.simdgroup];
                group_.thread[thread.index] = thread;
                thread.index++;
            }
        }
    }
}

void Worker::run_threadgroup(const Job &job, uint64_t n) {
    uint32_t size[3];
    job.grid.position(n, group_.position);
    job.grid.size(group_.position, size);
    lay_out(job, size);
    for (int k = 0; k < 3; k++) {
        group_.origin[k] = group_.position[k] * job.launch.threads_per_threadgroup[k];
    }
    // Odd multipliers that spread neighbouring seeds and threadgroups; xorshift must not start at
    // 0.
    group_.random = (job.launch.seed * 0x9e3779b97f4a7c15 + n * 0xbf58476d1ce4e5b9) | 1;
    if (memory_bytes_ != 0) memset(memory_.get(), POISON, memory_bytes_);
    if (variable_bytes_ != 0) memset(variables_, POISON, variable_bytes_);
    if (group_.checker != nullptr) group_.checker->begin_threadgroup();
    threadgroup_run(group_);
    if (group_.checker != nullptr) check_end(group_);
}

void Worker::run(Job &job) {
    const FloatEnvironment environment;
    const SignalStack signal_stack(signal_stack_);
    if (!prepare(job.launch)) return job.fail(fault_out_of_memory(job.launch));
    const TimeLimit limit(group_, job.launch);
    for (uint64_t n; job.take(n);) {
        run_threadgroup(job, n);
        if (group_.incident.kind != SIMT_FAULT_NONE) {
            job.fail(fault_of(group_, stacks_, job.launch));
            // Who writes past a stack overwrites what its fiber starts from.
            stacks_.discard();
        }
    }
}

}  // namespace simt
