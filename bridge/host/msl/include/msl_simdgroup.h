// <metal_simdgroup>: what the lanes of a SIMD-group compute together.
#pragma once
#include "msl_exchange.h"

namespace metal {

#define MSL_REDUCTION(NAME, OPERATION)                                                             \
    template <class T> MSL_CONVERGENT inline T NAME(T data, MSL_SITE) {                            \
        return __msl::reduction<__msl::OPERATION>(data, site);                                     \
    }
MSL_REDUCTION(simd_sum, sum)
MSL_REDUCTION(simd_product, product)
MSL_REDUCTION(simd_min, minimum)
MSL_REDUCTION(simd_max, maximum)
MSL_REDUCTION(simd_and, bit_and)
MSL_REDUCTION(simd_or, bit_or)
MSL_REDUCTION(simd_xor, bit_xor)
#undef MSL_REDUCTION

#define MSL_PREFIX(NAME, OPERATION, START, OWN)                                                    \
    template <class T> MSL_CONVERGENT inline T NAME(T data, MSL_SITE) {                            \
        const __msl::operands<T> lanes = __msl::meet(data, site);                                  \
        return __msl::prefix<__msl::OPERATION>(lanes, lanes.mask(), T(START), OWN);                \
    }
MSL_PREFIX(simd_prefix_inclusive_sum, sum, 0, true)
MSL_PREFIX(simd_prefix_exclusive_sum, sum, 0, false)
MSL_PREFIX(simd_prefix_inclusive_product, product, 1, true)
MSL_PREFIX(simd_prefix_exclusive_product, product, 1, false)
#undef MSL_PREFIX

// Shuffles read what a lane gave, whether or not it takes part now: where it does not, the value is
// undefined. One that reads beyond the ends gets its own back.
#define MSL_SHUFFLE(NAME, FROM)                                                                    \
    template <class T> MSL_CONVERGENT inline T NAME(T data, ushort n, MSL_SITE) {                  \
        const __msl::operands<T> lanes = __msl::meet(data, site);                                  \
        [[maybe_unused]] const uint lane = lanes.lane;                                             \
        return lanes[FROM];                                                                        \
    }
MSL_SHUFFLE(simd_shuffle, n % MSL_LANES)
MSL_SHUFFLE(simd_broadcast, n % MSL_LANES)
MSL_SHUFFLE(simd_shuffle_xor, (lane ^ n) % MSL_LANES)
MSL_SHUFFLE(simd_shuffle_down, lane + n < MSL_LANES ? lane + n : lane)
MSL_SHUFFLE(simd_shuffle_up, lane >= n ? lane - n : lane)
MSL_SHUFFLE(simd_shuffle_rotate_down, (lane + n) % MSL_LANES)
MSL_SHUFFLE(simd_shuffle_rotate_up, (lane - n) % MSL_LANES)
#undef MSL_SHUFFLE

template <class T> MSL_CONVERGENT inline T simd_broadcast_first(T data, MSL_SITE) {
    const __msl::operands<T> lanes = __msl::meet(data, site);
    return lanes[__builtin_ctz(lanes.mask())];
}

// Groups of `modulo` lanes shift on their own; what moves in comes from `filling`, from the lane
// that would stand there if the groups of data and filling were side by side. The two exchanges
// must not be taken for one: the second is said to stand one column further on.
template <class T>
MSL_CONVERGENT inline T simd_shuffle_and_fill_up(T data, T filling, ushort delta,
                                                 ushort modulo = MSL_LANES, MSL_SITE) {
    const __msl::operands<T> lanes = __msl::meet(data, site);
    const uint lane = lanes.lane % modulo, group = lanes.lane - lane;
    const T moved = lane >= delta ? lanes[lanes.lane - delta] : data;
    const __msl::operands<T> fills = __msl::meet(filling, site + 1);
    return lane >= delta ? moved : fills[group + (lane + modulo - delta) % modulo];
}
template <class T>
MSL_CONVERGENT inline T simd_shuffle_and_fill_down(T data, T filling, ushort delta,
                                                   ushort modulo = MSL_LANES, MSL_SITE) {
    const __msl::operands<T> lanes = __msl::meet(data, site);
    const uint lane = lanes.lane % modulo, group = lanes.lane - lane;
    const T moved = lane + delta < modulo ? lanes[lanes.lane + delta] : data;
    const __msl::operands<T> fills = __msl::meet(filling, site + 1);
    return lane + delta < modulo ? moved : fills[group + (lane + delta) % modulo];
}

// A set of lanes.
class simd_vote {
  public:
    using vote_t = ulong;

    constexpr explicit simd_vote(vote_t lanes = 0) : lanes_(lanes) {}
    constexpr explicit operator vote_t() const { return lanes_; }
    constexpr bool all() const { return lanes_ == 0xffffffff; }
    constexpr bool any() const { return lanes_ != 0; }

  private:
    vote_t lanes_;
};

MSL_CONVERGENT inline simd_vote simd_ballot(bool expression, MSL_SITE) {
    return simd_vote(__msl::ballot(__msl::meet(uchar(expression), site)));
}
MSL_CONVERGENT inline bool simd_all(bool expression, MSL_SITE) {
    return __msl::reduction<__msl::bit_and>(expression, site);
}
MSL_CONVERGENT inline bool simd_any(bool expression, MSL_SITE) {
    return __msl::reduction<__msl::bit_or>(expression, site);
}
MSL_CONVERGENT inline simd_vote simd_active_threads_mask(MSL_SITE) {
    return simd_vote(__msl::meet(uchar(1), site).mask());
}
MSL_CONVERGENT inline bool simd_is_first(MSL_SITE) {
    const __msl::operands<uchar> lanes = __msl::meet(uchar(1), site);
    return lanes.lane == uint(__builtin_ctz(lanes.mask()));
}
inline bool simd_is_helper_thread() {
    return false;
}

}  // namespace metal
