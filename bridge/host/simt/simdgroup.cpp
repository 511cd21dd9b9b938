#include "simdgroup.h"
#include "check/checker.h"
#include "scheduler.h"

#include <cstring>

namespace simt {
namespace {

bool at_barrier(uint64_t stop) {
    return (stop & STOP_SIZE) == MSL_SIMD_BARRIER;
}

// Those of `waiting` that wait in something else than a barrier, which could yet bring them there.
uint32_t in_operations(const uint64_t *stop, uint32_t waiting) {
    uint32_t lanes = 0;
    for (uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        if (!at_barrier(stop[lane])) lanes |= 1u << lane;
    }
    return lanes;
}

// Whether a barrier at which `chosen` meet may let them go on.
bool may_go_on(const Threadgroup &group, uint32_t s, uint32_t chosen) {
    const uint64_t *stop = &group.stop[s * MSL_LANES];
    const uint32_t missing = lanes_of(group, s) & ~chosen;
    if (missing != 0 && group.order != SIMT_HIGHEST_FIRST) return false;
    for (uint32_t rest = missing; rest != 0; rest &= rest - 1)
        if (stop[__builtin_ctz(rest)] != RETURNED) return false;
    return true;
}

// The lanes of `waiting` with the smallest stop.
uint32_t participants(const uint64_t *stop, uint32_t waiting) {
    uint64_t smallest = RETURNED;
    uint32_t chosen = 0;
    for (uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        if (stop[lane] < smallest) {
            smallest = stop[lane];
            chosen = 0;
        }
        if (stop[lane] == smallest) chosen |= 1u << lane;
    }
    return chosen;
}

bool all_equal(const uint64_t *stop) {
    uint64_t different = 0;
    for (int lane = 1; lane < MSL_LANES; lane++)
        different |= stop[lane] ^ stop[0];
    return different == 0;
}

template <size_t SIZE> void pack(msl_exchange &exchange) {
    for (size_t lane = 0; lane < MSL_LANES; lane++) {
        memcpy(exchange.op + lane * SIZE, exchange.in + lane * MSL_EXCHANGE_BYTES, SIZE);
    }
}

// Of all lanes, whether they take part or not: no branches.
void pack(msl_exchange &exchange, size_t size) {
    switch (size) {
    case 0:
    case MSL_SIMD_BARRIER:
        break;
    case 1:
        return pack<1>(exchange);
    case 2:
        return pack<2>(exchange);
    case 4:
        return pack<4>(exchange);
    case 8:
        return pack<8>(exchange);
    case MSL_EXCHANGE_BYTES:
        return pack<MSL_EXCHANGE_BYTES>(exchange);
    default:  // e.g. packed vectors of three
        for (size_t lane = 0; lane < MSL_LANES; lane++) {
            memcpy(exchange.op + lane * size, exchange.in + lane * MSL_EXCHANGE_BYTES, size);
        }
    }
}

}  // namespace

msl_exchange *simdgroup_begin(uint32_t *lane) {
    Threadgroup &group = *running;
    *lane = group.current % MSL_LANES;
    return &group.exchange[group.current / MSL_LANES];
}

void simdgroup_wait(uint64_t site, uint32_t size) {
    Threadgroup &group = *running;
    const uint32_t i = group.current;
    group.stop[i] = stop_at(site, size);
    group.at_simd[i / MSL_LANES] |= 1u << i % MSL_LANES;
    scheduler_wait(group);
}

bool simdgroup_resolve(Threadgroup &group, uint32_t s) {
    const uint32_t waiting = group.at_simd[s];
    const uint64_t *stop = &group.stop[s * MSL_LANES];
    const bool whole = waiting == ~0u && all_equal(stop);
    uint32_t chosen = waiting;
    if (!whole) {
        const uint32_t first = in_operations(stop, waiting);
        chosen = participants(stop, first != 0 ? first : waiting);
        if (first == 0 && !may_go_on(group, s, chosen)) {
            group.incident.kind = SIMT_FAULT_DIVERGENT_BARRIER;
            group.incident.simdgroup = s;
            return false;
        }
    }
    msl_exchange &exchange = group.exchange[s];
    pack(exchange, stop[__builtin_ctz(chosen)] & STOP_SIZE);
    exchange.mask = chosen;
    exchange.computed = 0;
    if (group.checker != nullptr) group.checker->lanes_met(group, s, chosen);
    group.at_simd[s] = waiting & ~chosen;
    group.ready[s] = chosen;
    group.ready_simdgroups |= 1u << s;
    return true;
}

}  // namespace simt
