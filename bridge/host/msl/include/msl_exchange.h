// How the lanes of a SIMD-group exchange values. Those that left, or that are elsewhere in
// divergent code, take no part in an operation.
#pragma once

namespace __msl {

// The operands of all lanes that take part in an operation.
template <class T> struct operands {
    msl_exchange *exchange;
    uint32_t lane;

    T operator[](uint32_t i) const {
        T value;
        __builtin_memcpy(&value, exchange->op + i * sizeof(T), sizeof(T));
        return value;
    }
    uint32_t mask() const { return exchange->mask; }
};

template <class T> MSL_CONVERGENT inline operands<T> meet(T value, uint64_t site) {
    static_assert(sizeof(T) <= MSL_EXCHANGE_BYTES, "too wide for a SIMD-group operation");
    uint32_t lane;
    msl_exchange *exchange = engine.simd_begin(&lane);
    __builtin_memcpy(exchange->in + lane * MSL_EXCHANGE_BYTES, &value, sizeof(T));
    engine.simd_wait(site, sizeof(T));
    return {exchange, lane};
}

// As a tree, which the compiler turns into vector instructions, where all lanes take part.
template <class F, class T> __attribute__((noinline)) T reduce(const operands<T> &lanes) {
    uint32_t mask = lanes.mask();
    if (mask == ~0u) {
        T value[MSL_LANES];
        __builtin_memcpy(value, lanes.exchange->op, sizeof value);
        for (uint32_t half_width = MSL_LANES / 2; half_width > 0; half_width /= 2) {
            for (uint32_t i = 0; i < half_width; i++) {
                value[i] = F()(value[i], value[i + half_width]);
            }
        }
        return value[0];
    }
    T result = lanes[__builtin_ctz(mask)];
    for (mask &= mask - 1; mask; mask &= mask - 1) {
        result = F()(result, lanes[__builtin_ctz(mask)]);
    }
    return result;
}

// One lane computes, the others find its result.
template <class F, class T> MSL_CONVERGENT inline T reduction(T value, uint64_t site) {
    const operands<T> lanes = meet(value, site);
    T result;
    if (!lanes.exchange->computed) {
        result = reduce<F>(lanes);
        __builtin_memcpy(lanes.exchange->result, &result, sizeof(T));
        lanes.exchange->computed = 1;
        return result;
    }
    __builtin_memcpy(&result, lanes.exchange->result, sizeof(T));
    return result;
}

// Over the lanes of `mask` below this one, and this one's own if `own`.
template <class F, class T> T prefix(const operands<T> &lanes, uint32_t mask, T result, bool own) {
    const uint32_t below = (1u << lanes.lane) - 1;
    for (uint32_t rest = mask & below; rest; rest &= rest - 1) {
        result = F()(result, lanes[__builtin_ctz(rest)]);
    }
    return own ? F()(result, lanes[lanes.lane]) : result;
}

inline uint32_t ballot(const operands<uchar> &lanes) {
    uint32_t votes = 0;
    for (uint32_t i = 0; i < MSL_LANES; i++)
        votes |= uint32_t(lanes[i]) << i;
    return votes & lanes.mask();
}

#define MSL_OPERATION(NAME, VALUE)                                                                 \
    struct NAME {                                                                                  \
        template <class T> constexpr T operator()(const T &a, const T &b) const {                  \
            return VALUE;                                                                          \
        }                                                                                          \
    };
MSL_OPERATION(sum, T(a + b))
MSL_OPERATION(product, T(a *b))
MSL_OPERATION(minimum, T(metal::min(a, b)))
MSL_OPERATION(maximum, T(metal::max(a, b)))
MSL_OPERATION(bit_and, T(a &b))
MSL_OPERATION(bit_or, T(a | b))
MSL_OPERATION(bit_xor, T(a ^ b))
#undef MSL_OPERATION

}  // namespace __msl
