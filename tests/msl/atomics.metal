// Atomics of every type, on device and threadgroup memory. The threadgroup is the whole grid.
#define RELAXED memory_order_relaxed
#define GROUP uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]
#define MEET threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup)

kernel void add_uint(CHECKED, device atomic_uint *at [[buffer(1)]], GROUP) {
    atomic_fetch_add_explicit(at, i, RELAXED);
    MEET;
    CHECK(atomic_load_explicit(at, RELAXED) == n * (n - 1) / 2);
}

kernel void add_int_and_subtract(CHECKED, device atomic_int *at [[buffer(1)]], GROUP) {
    atomic_fetch_add_explicit(at, -3, RELAXED);
    atomic_fetch_sub_explicit(at, 1, RELAXED);
    MEET;
    CHECK(atomic_load_explicit(at, RELAXED) == -4 * int(n));
}

kernel void add_float(CHECKED, device atomic<float> *at [[buffer(1)]], GROUP) {
    atomic_fetch_add_explicit(at, 0.25f, RELAXED);
    MEET;
    CHECK(atomic_load_explicit(at, RELAXED) == 0.25f * n);
}

kernel void add_in_threadgroup_memory(CHECKED, GROUP) {
    threadgroup atomic_int counts[2];
    if (i < 2 || n == 1) atomic_store_explicit(&counts[i], 0, RELAXED);
    if (n == 1) atomic_store_explicit(&counts[1], 0, RELAXED);
    MEET;
    atomic_fetch_add_explicit(&counts[i % 2], 1, RELAXED);
    MEET;
    CHECK(atomic_load_explicit(counts + 1, RELAXED) == int(n / 2));
}

kernel void tickets(CHECKED, device atomic_uint *at [[buffer(1)]], device uint *taken [[buffer(2)]],
                    GROUP) {
    const uint ticket = atomic_fetch_add_explicit(at, 1u, RELAXED);
    taken[ticket] = 1;
    MEET;
    CHECK(ticket < n && taken[i] == 1);
}

kernel void minimum_and_maximum(CHECKED, device atomic_int *at [[buffer(1)]],
                                device atomic_uint *other [[buffer(2)]], GROUP) {
    atomic_fetch_min_explicit(at, -int(i), RELAXED);
    atomic_fetch_max_explicit(at + 1, int(i), RELAXED);
    atomic_fetch_max_explicit(other, ~0u - i, RELAXED);
    MEET;
    CHECK(atomic_load_explicit(at, RELAXED) == -int(n - 1));
    CHECK(atomic_load_explicit(at + 1, RELAXED) == int(n - 1));
    CHECK(atomic_load_explicit(other, RELAXED) == ~0u);
}

kernel void bits(CHECKED, device atomic_uint *at [[buffer(1)]], GROUP) {
    atomic_fetch_or_explicit(at, 1u << (i % 32), RELAXED);
    atomic_fetch_xor_explicit(at + 1, 1u, RELAXED);
    MEET;
    const uint all = n >= 32 ? ~0u : (1u << n) - 1;
    CHECK(atomic_load_explicit(at, RELAXED) == all);
    CHECK(atomic_load_explicit(at + 1, RELAXED) == n % 2);
    MEET;
    atomic_fetch_and_explicit(at, ~(1u << (i % 32)), RELAXED);
    MEET;
    CHECK(atomic_load_explicit(at, RELAXED) == 0);
}

kernel void exchange(CHECKED, device atomic_uint *at [[buffer(1)]],
                     device atomic_uint *sum [[buffer(2)]], GROUP) {
    const uint before = atomic_exchange_explicit(at, i + 1, RELAXED);
    atomic_fetch_add_explicit(sum, before, RELAXED);
    MEET;
    CHECK(atomic_load_explicit(sum, RELAXED) + atomic_load_explicit(at, RELAXED) ==
          n * (n + 1) / 2);
}

// How sources make an operation that the hardware lacks.
kernel void compare_and_exchange(CHECKED, device atomic_uint *at [[buffer(1)]], GROUP) {
    uint expected = atomic_load_explicit(at, RELAXED);
    while (
        !atomic_compare_exchange_weak_explicit(at, &expected, expected * 3 + 1, RELAXED, RELAXED)) {
    }
    MEET;
    uint wanted = 0;
    for (uint k = 0; k < n; k++)
        wanted = wanted * 3 + 1;
    CHECK(atomic_load_explicit(at, RELAXED) == wanted);
}

kernel void compare_fails(CHECKED, device atomic_int *at [[buffer(1)]], GROUP) {
    int expected = 7;
    CHECK(!atomic_compare_exchange_weak_explicit(at, &expected, 9, RELAXED, RELAXED));
    CHECK(expected == 0 && atomic_load_explicit(at, RELAXED) == 0);
}

// A float's maximum by way of its bits.
kernel void maximum_of_floats(CHECKED, device atomic_uint *at [[buffer(1)]], GROUP) {
    atomic_fetch_max_explicit(at, as_type<uint>(0.5f * i), RELAXED);
    MEET;
    CHECK(as_type<float>(atomic_load_explicit(at, RELAXED)) == 0.5f * (n - 1));
}

kernel void ulong_extremes(CHECKED, device atomic_ulong *at [[buffer(1)]], GROUP) {
    atomic_max_explicit(at, ulong(i) << 33, RELAXED);
    MEET;
    CHECK(*(device ulong *)at == ulong(n - 1) << 33);
}

kernel void cast_from_plain_memory(CHECKED, device uint *data [[buffer(1)]], GROUP) {
    atomic_fetch_add_explicit((device atomic_uint *)&data[3], 2, RELAXED);
    MEET;
    CHECK(data[3] == 2 * n);
}

kernel void booleans(CHECKED, device atomic_bool *flag [[buffer(1)]], GROUP) {
    if (i == n - 1) atomic_store_explicit(flag, true, RELAXED);
    MEET;
    CHECK(atomic_load_explicit(flag, RELAXED));
}

kernel void fences(CHECKED, device uint *data [[buffer(1)]], device atomic_uint *flag [[buffer(2)]],
                   GROUP) {
    if (i == 0) {
        data[0] = 42;
        atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
        atomic_store_explicit(flag, 1, RELAXED);
    }
    MEET;
    atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_relaxed);
    CHECK(atomic_load_explicit(flag, RELAXED) == 1 && data[0] == 42);
}
