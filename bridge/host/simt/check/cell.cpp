#include "cell.h"

namespace simt {
namespace {

bool is_open(const Access &before, const Access &now, uint32_t oldest, const Order &order) {
    return before.group >= oldest && order.is_open(before, now);
}

}  // namespace

const Access *Accesses::open_to(const Access &now, uint32_t oldest, const Order &order) const {
    if (is_open(first, now, oldest, order)) return &first;
    if (is_open(second, now, oldest, order)) return &second;
    return nullptr;
}

void Accesses::add(const Access &now, uint32_t oldest, const Order &order) {
    if (first.group >= oldest && first.group != now.group) return;
    if (is_open(first, now, oldest, order)) {
        second = now;
        return;
    }
    // What the first one is ordered to, its successor is, too, but for what is open to both.
    if (!is_open(second, now, oldest, order)) second = {};
    first = now;
}

const Access *Cell::race(msl_access kind, const Access &now, const AtomicAccesses *atomics,
                         uint32_t oldest, const Order &order, msl_access &kind_before) const {
    const auto found = [&](msl_access before, const Access *access) {
        kind_before = before;
        return access;
    };
    if (is_open(write_, now, oldest, order)) return found(MSL_ACCESS_WRITE, &write_);
    if (is_write(kind)) {
        if (const Access *read = reads_.open_to(now, oldest, order))
            return found(MSL_ACCESS_READ, read);
    }
    if (is_atomic(kind) || atomics == nullptr) return nullptr;
    if (const Access *write = atomics->writes.open_to(now, oldest, order))
        return found(MSL_ACCESS_ATOMIC_WRITE, write);
    if (kind != MSL_ACCESS_WRITE) return nullptr;
    if (const Access *read = atomics->reads.open_to(now, oldest, order))
        return found(MSL_ACCESS_ATOMIC_READ, read);
    return nullptr;
}

void Cell::add(msl_access kind, const Access &now, AtomicAccesses *atomics, uint32_t oldest,
               const Order &order) {
    switch (kind) {
    case MSL_ACCESS_READ:
        return reads_.add(now, oldest, order);
    case MSL_ACCESS_ATOMIC_READ:
        return atomics->reads.add(now, oldest, order);
    case MSL_ACCESS_ATOMIC_WRITE:
        return atomics->writes.add(now, oldest, order);
    default:
        write_ = now;
    }
}

}  // namespace simt
