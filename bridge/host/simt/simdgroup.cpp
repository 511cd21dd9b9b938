#include "simdgroup.h"
#include "check/checker.h"
#include "scheduler.h"

#include <cstring>

namespace simt {
namespace {

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

void simdgroup_resolve(Threadgroup &group, uint32_t s) {
    const uint32_t waiting = group.at_simd[s];
    const uint64_t *stop = &group.stop[s * MSL_LANES];
    const bool whole = waiting == ~0u && all_equal(stop);
    const uint32_t chosen = whole ? waiting : participants(stop, waiting);
    msl_exchange &exchange = group.exchange[s];
    pack(exchange, stop[__builtin_ctz(chosen)] & STOP_SIZE);
    exchange.mask = chosen;
    exchange.computed = 0;
    if (group.checker != nullptr) group.checker->lanes_met(group, s, chosen);
    group.at_simd[s] = waiting & ~chosen;
    group.ready[s] = chosen;
    group.ready_simdgroups |= 1u << s;
}

}  // namespace simt
