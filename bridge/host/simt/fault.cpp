#include "fault.h"
#include "bounds_trap.h"
#include "check/report.h"
#include "fault_place.h"
#include "fault_text.h"

#include <algorithm>
#include <csignal>

namespace simt {
namespace {

unsigned line_of_site(uint64_t site) {
    return static_cast<unsigned>(site >> MSL_SITE_COLUMN_BITS);
}

unsigned line(uint64_t stop) {
    return line_of_site(stop >> STOP_SITE_SHIFT);
}

void add_threadgroup(Text &text, const Threadgroup &group) {
    text.add("threadgroup (%u, %u, %u)", group.position[0], group.position[1], group.position[2]);
}

struct Range {
    uint32_t first, count;
};

// All of the threadgroup, or those of the SIMD-group that could not leave a barrier.
Range threads_concerned(const Threadgroup &group) {
    if (group.incident.simdgroup == NO_SIMDGROUP) return {0, group.threads};
    const uint32_t first = group.incident.simdgroup * MSL_LANES;
    return {first, std::min(group.threads - first, uint32_t{MSL_LANES})};
}

// Where a thread waits; in a SIMD-group that cannot go on, at which kind of barrier, too.
void add_stop(Text &text, const Threadgroup &group, uint64_t stop) {
    text.add("line %u", line(stop));
    if (group.incident.simdgroup == NO_SIMDGROUP) return;
    const bool of_simdgroup = (stop & STOP_SIZE) == MSL_SIMD_BARRIER;
    text.add(" (%s)", of_simdgroup ? "simdgroup_barrier" : "threadgroup_barrier");
}

void add_divergence(Text &text, const Threadgroup &group) {
    const bool of_simdgroup = group.incident.simdgroup != NO_SIMDGROUP;
    const Range threads = threads_concerned(group);
    uint32_t first = MSL_MAX_THREADS, waiting = 0;
    text.add("divergent %s in ", of_simdgroup ? "simdgroup_barrier" : "threadgroup_barrier");
    add_threadgroup(text, group);
    if (of_simdgroup) text.add(", SIMD-group %u", group.incident.simdgroup);
    for (uint32_t i = threads.first; i < threads.first + threads.count; i++) {
        if (group.stop[i] == RETURNED) continue;
        if (waiting++ == 0) first = i;
        if (group.stop[i] == group.stop[first]) continue;
        text.add(": thread %u waits at ", first);
        add_stop(text, group, group.stop[first]);
        text.add(", thread %u at ", i);
        return add_stop(text, group, group.stop[i]);
    }
    text.add(": %u of %u threads wait at ", waiting, threads.count);
    add_stop(text, group, group.stop[first]);
    text.add(", the others have returned");
}

// Of the bound buffers, the one that ends least before `address`.
void add_nearest_buffer(Text &text, const simt_launch &launch, const void *address) {
    int nearest = -1;
    size_t least = NEAR_BYTES;
    for (int i = 0; i < MSL_MAX_BUFFERS; i++) {
        if (launch.buffers[i] == nullptr) continue;
        const auto start = reinterpret_cast<size_t>(launch.buffers[i]);
        const size_t past = reinterpret_cast<size_t>(address) - start - launch.buffer_lengths[i];
        if (past >= least) continue;
        least = past;
        nearest = i;
    }
    if (nearest >= 0) text.add(", %zu bytes past the end of buffer(%d)", least, nearest);
}

void add_access(Text &text, const Threadgroup &group, const Stacks &stacks,
                const simt_launch &launch) {
    const Incident &incident = group.incident;
    if (incident.code == SI_KERNEL) {  // x86-64 does not tell the address of these
        text.add("used an address that is misaligned or that no process has");
    } else if (!stacks.guard(incident.address)) {
        text.add("touched memory that is not there, at %p", incident.address);
        add_nearest_buffer(text, launch, incident.address);
    } else if (stacks.exhausted(reinterpret_cast<const void *>(group.registers.stack_pointer))) {
        text.add("ran out of stack: %zu bytes for private variables and calls", STACK_BYTES);
    } else {
        text.add("ran outside a private array, and of the stack that it is on");
    }
}

void add_thread(Text &text, const Threadgroup &group) {
    add_threadgroup(text, group);
    const uint32_t *at = group.thread[group.current].thread_in_threadgroup;
    text.add(", thread (%u, %u, %u)", at[0], at[1], at[2]);
}

void add_misuse(Text &text, const Threadgroup &group) {
    add_thread(text, group);
    text.add(" at line %u: %s", line_of_site(group.incident.site), group.incident.misuse);
}

void add_place(Text &text, const Threadgroup &group, const simt_launch &launch) {
    msl_place place;
    if (!fault_place(launch.library, group.registers, place)) return;
    text.add(place.exact ? " at %s:%u" : " near %s:%u", place.file, place.line);
}

void add_timeout(Text &text, const Threadgroup &group, const simt_launch &launch) {
    add_thread(text, group);
    add_place(text, group, launch);
    text.add(" was still running");
}

void add_signal(Text &text, const Threadgroup &group, const Stacks &stacks,
                const simt_launch &launch) {
    add_thread(text, group);
    add_place(text, group, launch);
    text.add(" ");
    switch (group.incident.signal) {
    case SIGFPE:
        return text.add("divided an integer by zero, or the quotient does not fit");
    case SIGILL:
    case SIGTRAP:
        return text.add(is_bounds_trap(group.registers.instruction)
                            ? "ran outside a private array or a constant table"
                            : "reached code that the compiler took for unreachable");
    default:
        return add_access(text, group, stacks, launch);
    }
}

}  // namespace

simt_fault fault_of(const Threadgroup &group, const Stacks &stacks, const simt_launch &launch) {
    if (group.incident.kind == SIMT_FAULT_OUT_OF_MEMORY) return fault_out_of_memory(launch);
    simt_fault fault = {};
    fault.kind = group.incident.kind;
    Text text(fault, launch.kernel->name);
    if (group.incident.finding != nullptr) {
        report_finding(text, *group.incident.finding, *group.checker);
        return fault;
    }
    if (fault.kind == SIMT_FAULT_DIVERGENT_BARRIER) {
        add_divergence(text, group);
    } else if (fault.kind == SIMT_FAULT_MISUSE) {
        add_misuse(text, group);
    } else if (fault.kind == SIMT_FAULT_TIMEOUT) {
        add_timeout(text, group, launch);
    } else {
        add_signal(text, group, stacks, launch);
    }
    return fault;
}

simt_fault fault_out_of_memory(const simt_launch &launch) {
    simt_fault fault = {};
    fault.kind = SIMT_FAULT_OUT_OF_MEMORY;
    const uint32_t *size = launch.threads_per_threadgroup;
    Text(fault, launch.kernel->name)
        .add("no memory for a threadgroup of %u threads", size[0] * size[1] * size[2]);
    return fault;
}

}  // namespace simt
