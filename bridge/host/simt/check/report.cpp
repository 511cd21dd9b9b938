#include "report.h"

namespace simt {
namespace {

const char *verb(msl_access kind) {
    switch (kind) {
    case MSL_ACCESS_READ:
        return "reads";
    case MSL_ACCESS_ATOMIC_READ:
        return "atomically reads";
    case MSL_ACCESS_ATOMIC_WRITE:
        return "atomically writes";
    default:
        return "writes";
    }
}

// A byte of one of the kernel's arguments or variables, or beside it.
void add_byte(Text &text, const Finding &finding) {
    const MemoryRange &range = finding.range;
    if (!finding.has_range)
        return text.add("memory at %p", reinterpret_cast<void *>(finding.address));
    const auto byte = static_cast<ptrdiff_t>(finding.at - range.start);
    if (range.kind == MemoryKind::ThreadgroupVariable) {
        const char *name = range.name != nullptr ? range.name : "";
        return text.add("byte %td of threadgroup variable '%s'", byte, name);
    }
    const char *kind = range.kind == MemoryKind::Buffer ? "buffer" : "threadgroup";
    text.add("%s(%u) '%s' at byte %td", kind, range.binding->index, range.binding->name, byte);
}

void add_thread(Text &text, const Checker &checker, const Access &access) {
    const CheckedDispatch &dispatch = checker.dispatch_of(access);
    const Grid grid(dispatch.launch);
    uint32_t group[3], size[3];
    grid.position(access.group - dispatch.first, group);
    grid.size(group, size);
    text.add("threadgroup (%u, %u, %u)", group[0], group[1], group[2]);
    if (access.thread == ALL_THREADS) return text.add(", all threads together,");
    const uint32_t thread = access.thread;
    text.add(", thread (%u, %u, %u)", thread % size[0], thread / size[0] % size[1],
             thread / size[0] / size[1]);
}

// The place is where the call that told of the access returns to.
void add_line(Text &text, const Checker &checker, const Access &access) {
    const CheckedDispatch &dispatch = checker.dispatch_of(access);
    const auto *call = reinterpret_cast<const void *>(dispatch.library + access.place - 1);
    msl_place place;
    if (msl_library_place(dispatch.launch.library, call, &place))
        text.add(place.exact ? " at %s:%u" : " near %s:%u", place.file, place.line);
}

void add_bounds(Text &text, const Finding &finding, const Checker &checker) {
    add_thread(text, checker, finding.now);
    text.add(" %s %zu bytes", verb(finding.access), finding.bytes);
    add_line(text, checker, finding.now);
    text.add(" of ");
    add_byte(text, finding);
    if (finding.kind == FindingKind::ReadOnly) return text.add(", which is not to be written");
    if (!finding.has_range) return text.add(", which no argument has");
    text.add(", which has %zu bytes", static_cast<size_t>(finding.range.end - finding.range.start));
}

void add_stack(Text &text, const Finding &finding, const Checker &checker) {
    add_thread(text, checker, finding.now);
    text.add(" %s %zu bytes", verb(finding.access), finding.bytes);
    add_line(text, checker, finding.now);
    text.add(" outside of its private arrays");
}

void add_unwritten(Text &text, const Finding &finding, const Checker &checker) {
    add_thread(text, checker, finding.now);
    text.add(" reads %zu bytes of threadgroup memory", finding.bytes);
    add_line(text, checker, finding.now);
    text.add(" that no thread has written yet: ");
    add_byte(text, finding);
}

// What would have ordered the two.
void add_remedy(Text &text, const Finding &finding, const Checker &checker) {
    const bool same_group = finding.before.group == finding.now.group;
    if (&checker.dispatch_of(finding.before) != &checker.dispatch_of(finding.now))
        return text.add("no memory barrier is between the two dispatches");
    if (!same_group && finding.met)
        return text.add("the atomics that order the two threadgroups do not order this: no "
                        "threadgroup_barrier with mem_flags::mem_device is between");
    if (!same_group) return text.add("nothing orders the threadgroups of a dispatch");
    const bool threadgroup = finding.range.is_threadgroup();
    const bool same_simdgroup = finding.before.thread / MSL_LANES == finding.now.thread / MSL_LANES;
    text.add("no %s with mem_flags::%s is between",
             same_simdgroup ? "simdgroup_barrier" : "threadgroup_barrier",
             threadgroup ? "mem_threadgroup" : "mem_device");
}

void add_race(Text &text, const Finding &finding, const Checker &checker) {
    text.add("race: ");
    add_thread(text, checker, finding.now);
    text.add(" %s", verb(finding.access));
    add_line(text, checker, finding.now);
    text.add(" what ");
    const CheckedDispatch &before = checker.dispatch_of(finding.before);
    if (&before != &checker.dispatch()) text.add("kernel '%.64s', ", before.launch.kernel->name);
    add_thread(text, checker, finding.before);
    text.add(" %s", verb(finding.access_before));
    add_line(text, checker, finding.before);
    text.add(": ");
    add_byte(text, finding);
    text.add("; ");
    add_remedy(text, finding, checker);
}

}  // namespace

void report_finding(Text &text, const Finding &finding, const Checker &checker) {
    switch (finding.kind) {
    case FindingKind::Nothing:
        return;
    case FindingKind::OutOfBounds:
    case FindingKind::ReadOnly:
        return add_bounds(text, finding, checker);
    case FindingKind::OutOfStack:
        return add_stack(text, finding, checker);
    case FindingKind::Unwritten:
        return add_unwritten(text, finding, checker);
    case FindingKind::Race:
        return add_race(text, finding, checker);
    }
}

}  // namespace simt
