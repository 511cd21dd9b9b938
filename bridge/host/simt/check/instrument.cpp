#include "instrument.h"
#include "../scheduler.h"
#include "checker.h"

#include <new>

namespace simt {
namespace {

bool is_access_elsewhere(FindingKind kind) {
    return kind == FindingKind::OutOfBounds || kind == FindingKind::OutOfStack ||
           kind == FindingKind::ReadOnly;
}

// Whether the thread may go on. No exception passes through a kernel.
bool check(Threadgroup &group, const void *address, size_t bytes, msl_access kind,
           const void *place) {
    try {
        const Finding *finding = group.checker->access(group, address, bytes, kind, place);
        if (finding == nullptr) return true;
        check_found(group, *finding);
    } catch (const std::bad_alloc &) {
        group.incident.kind = SIMT_FAULT_OUT_OF_MEMORY;
    }
    return false;
}

}  // namespace

void check_found(Threadgroup &group, const Finding &finding) {
    group.incident.kind = is_access_elsewhere(finding.kind) ? SIMT_FAULT_PAGE : SIMT_FAULT_MEMORY;
    group.incident.finding = &finding;
}

void check_access(const void *address, size_t bytes, uint32_t kind, const void *place) {
    Threadgroup &group = *running;
    if (group.checker == nullptr || bytes == 0) return;
    if (!check(group, address, bytes, static_cast<msl_access>(kind), place)) scheduler_leave(group);
}

void check_fence(uint32_t scope, uint32_t memory) {
    Threadgroup &group = *running;
    if (group.checker != nullptr)
        group.checker->fence(group, static_cast<msl_fence>(scope), memory);
}

}  // namespace simt
