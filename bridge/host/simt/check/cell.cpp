#include "cell.h"

namespace simt {
namespace {

bool is_open(const Access &before, const Access &now, uint32_t oldest, const Order &order) {
    return before.group >= oldest && order.is_open(before, now);
}

// That nothing orders them, atomics neither.
bool is_race(const Access &before, const Access &now, uint32_t oldest, const Order &order,
             Sight &sight) {
    return is_open(before, now, oldest, order) && !sight.covers(now.thread, before);
}

}  // namespace

const Access *Accesses::open_to(const Access &now, uint32_t oldest, const Order &order,
                                Sight &sight) const {
    if (is_race(first, now, oldest, order, sight)) return &first;
    if (is_race(second, now, oldest, order, sight)) return &second;
    return nullptr;
}

void Accesses::add(const Access &now, uint32_t oldest, const Order &order) {
    if (is_open(first, now, oldest, order)) {
        second = now;
        return;
    }
    // What the first one is ordered to, its successor is, too, but for what is open to both.
    if (!is_open(second, now, oldest, order)) second = {};
    first = now;
}

const Access *Cell::race(msl_access kind, const Access &now, const AtomicAccesses *atomics,
                         uint32_t oldest, const Order &order, Sight &sight,
                         msl_access &kind_before) const {
    const auto found = [&](msl_access before, const Access *access) {
        kind_before = before;
        return access;
    };
    if (is_race(write_, now, oldest, order, sight)) return found(MSL_ACCESS_WRITE, &write_);
    if (is_write(kind)) {
        if (const Access *read = reads_.open_to(now, oldest, order, sight))
            return found(MSL_ACCESS_READ, read);
    }
    if (is_atomic(kind) || atomics == nullptr) return nullptr;
    if (const Access *write = atomics->writes.open_to(now, oldest, order, sight))
        return found(MSL_ACCESS_ATOMIC_WRITE, write);
    if (kind != MSL_ACCESS_WRITE) return nullptr;
    if (const Access *read = atomics->reads.open_to(now, oldest, order, sight))
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
