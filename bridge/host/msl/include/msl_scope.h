// Which threads share a tensor operation, and how one of them does it for all.
#pragma once

namespace __msl {

using leader = void (*)(void **all, uint32_t threads);

}  // namespace __msl

namespace metal {

template <int N> struct execution_threads {
    static_assert(N == 1, "execution_threads is a single thread");
    static constexpr int __threads = 1;

    static uint32_t __index() { return 0; }
    static void __act(void *mine, __msl::leader act, uint32_t) { act(&mine, 1); }
};

template <int N> struct execution_simdgroups {
    static_assert(N >= 1, "execution_simdgroups takes the number of SIMD-groups, from 1");
    static constexpr int __threads = N * MSL_LANES;

    static uint32_t __index() { return __msl::engine.thread()->index; }
    MSL_CONVERGENT static void __act(void *mine, __msl::leader act, uint64_t site) {
        const uint32_t *size = __msl::engine.thread()->threads_per_threadgroup;
        if (size[0] * size[1] * size[2] != __threads) {
            __msl::engine.misuse(site, "execution_simdgroups<N> is for threadgroups of N whole "
                                       "SIMD-groups, or N is 1");
        }
        __msl::engine.cooperate(site, mine, act);
    }
};

template <> struct execution_simdgroups<1> {
    static constexpr int __threads = MSL_LANES;

    static uint32_t __index() { return __msl::engine.thread()->lane; }
    // The first lane that goes on after the meeting acts for all.
    MSL_CONVERGENT static void __act(void *mine, __msl::leader act, uint64_t site) {
        const __msl::operands<void *> lanes = __msl::meet(mine, site);
        if (lanes.exchange->computed) return;
        if (lanes.mask() != ~0u) {
            __msl::engine.misuse(site, "execution_simdgroup takes all 32 threads of a SIMD-group, "
                                       "at the same place of the kernel");
        }
        void *all[MSL_LANES];
        for (uint32_t i = 0; i < MSL_LANES; i++)
            all[i] = lanes[i];
        act(all, MSL_LANES);
        lanes.exchange->computed = 1;
    }
};

using execution_thread = execution_threads<1>;
using execution_simdgroup = execution_simdgroups<1>;

}  // namespace metal
