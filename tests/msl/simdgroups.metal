// Operations of whole SIMD-groups and of quadgroups; `n` threads, so the last group may be partial.
#define LANE                                                                                       \
    uint lane [[thread_index_in_simdgroup]], uint i [[thread_index_in_threadgroup]],               \
        uint n [[threads_per_threadgroup]]
#define LANES min(32u, n - i / 32 * 32)

kernel void reductions(CHECKED, LANE) {
    const uint lanes = LANES;
    CHECK(simd_sum(lane) == lanes * (lanes - 1) / 2);
    CHECK(simd_max(float(lane)) == lanes - 1 && simd_min(int(lane) - 5) == -5);
    CHECK(simd_product(lane == 0 ? 3 : 1) == 3);
    CHECK(simd_or(1u << (lane % 8)) == (1u << min(lanes, 8u)) - 1 && simd_xor(1u) == lanes % 2);
    CHECK(simd_and(~(1u << lane)) == ~(lanes == 32 ? ~0u : (1u << lanes) - 1));
    CHECK(all(simd_sum(float4(lane, 1, 2, 0)).yzw == float3(lanes, 2 * lanes, 0)));
    CHECK(simd_sum(half(1)) == half(lanes) && simd_max(short(lane)) == short(lanes - 1));
    CHECK(simd_sum(ulong(1) << 40) == ulong(lanes) << 40 && simd_max(char(-3)) == -3);
    CHECK(simd_any(lane == lanes - 1) && !simd_all(lane == 0 && lanes > 1));
    CHECK(simd_prefix_inclusive_sum(1u) == lane + 1 && simd_prefix_exclusive_sum(1u) == lane);
    CHECK(simd_prefix_inclusive_product(lane == 0 ? 2 : 1) == 2);
    CHECK(simd_prefix_exclusive_product(2.0f) == exp2(float(lane)));
}

kernel void shuffles(CHECKED, LANE) {
    const uint lanes = LANES;
    if (lanes < 32) return;
    CHECK(simd_shuffle(lane, 5) == 5 && simd_broadcast(lane, 31) == 31);
    CHECK(simd_shuffle_xor(lane, 3) == (lane ^ 3));
    CHECK(simd_shuffle_down(lane, 4) == (lane + 4 < 32 ? lane + 4 : lane));
    CHECK(simd_shuffle_up(lane, 4) == (lane >= 4 ? lane - 4 : lane));
    CHECK(simd_shuffle_rotate_down(lane, 4) == (lane + 4) % 32);
    CHECK(simd_shuffle_rotate_up(lane, 4) == (lane + 28) % 32);
    CHECK(simd_shuffle_and_fill_up(lane, 100 + lane, 2) == (lane >= 2 ? lane - 2 : 130 + lane));
    CHECK(simd_shuffle_and_fill_down(lane, 100 + lane, 2) == (lane < 30 ? lane + 2 : 70 + lane));
    const uint group = lane / 8 * 8;
    CHECK(simd_shuffle_and_fill_up(lane, 100 + lane, 1, 8) ==
          (lane % 8 ? lane - 1 : 100 + group + 7));
    CHECK(all(simd_shuffle(float2(lane, 7), 9) == float2(9, 7)));
    CHECK(simd_shuffle_xor(half(lane), 1) == half(lane ^ 1));
}

kernel void divergence(CHECKED, LANE) {
    const uint lanes = LANES;
    uint branch = 1;
    if (lane < 8)
        branch = simd_sum(1u);
    else if (lane < 20)
        branch = simd_sum(100u);
    CHECK(branch == (lane < 8 ? min(lanes, 8u) : lane < 20 ? 100 * (min(lanes, 20u) - 8) : 1));
    uint steps = 0, expected = 0;
    for (uint k = 0; k <= lane; k++)
        steps += simd_sum(1u), expected += lanes - k;
    CHECK(steps == expected);
    if (lane % 2) {
        CHECK(simd_broadcast_first(lane) == 1 && simd_is_first() == (lane == 1));
        CHECK(ulong(simd_ballot(true)) ==
              (0xaaaaaaaaul & (lanes == 32 ? 0xffffffff : (1ul << lanes) - 1)));
        if (lane > 5) return;
        CHECK(simd_sum(1u) == min(3u, lanes / 2));
    }
    CHECK(ulong(simd_active_threads_mask()) % 2 == 1);
}

kernel void quads(CHECKED, LANE) {
    const uint first = lane / 4 * 4, present = min(4u, LANES - first), own = lane % 4;
    CHECK(quad_sum(own) == present * (present - 1) / 2 && quad_max(lane) == first + present - 1);
    if (present < 4) return;
    CHECK(quad_shuffle_xor(lane, 1) == (lane ^ 1) && quad_broadcast(lane, 2) == first + 2);
    CHECK(quad_shuffle_down(lane, 1) == (own < 3 ? lane + 1 : lane));
    CHECK(quad_shuffle_rotate_up(lane, 1) == first + (own + 3) % 4);
    CHECK(quad_all(true) && quad_any(own == 3) && quad_shuffle(lane, 0) == first);
}

kernel void atomics(CHECKED, device atomic_int *counters [[buffer(1)]],
                    device atomic_float *sum [[buffer(2)]], LANE) {
    threadgroup atomic_uint local;
    if (i == 0) atomic_store_explicit(&local, 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&local, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counters[0], 2, memory_order_relaxed);
    atomic_fetch_max_explicit(&counters[1], int(i), memory_order_relaxed);
    atomic_fetch_or_explicit(&counters[2], 1 << (i % 8), memory_order_relaxed);
    atomic_fetch_add_explicit(sum, 0.5f, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    CHECK(atomic_load_explicit(&local, memory_order_relaxed) == n);
    CHECK(atomic_load_explicit(&counters[0], memory_order_relaxed) == int(2 * n));
    CHECK(atomic_load_explicit(&counters[1], memory_order_relaxed) == int(n - 1));
    CHECK(atomic_load_explicit(&counters[2], memory_order_relaxed) == (1 << min(8u, n)) - 1);
    CHECK(atomic_load_explicit(sum, memory_order_relaxed) == 0.5f * n);
    int expected = -1;
    CHECK(!atomic_compare_exchange_weak_explicit(&counters[0], &expected, 0, memory_order_relaxed,
                                                 memory_order_relaxed));
    CHECK(expected == int(2 * n));
}
