// Copies that a SIMD-group makes together, under the names that sources give to Apple's own.
struct copying;

thread copying *copy_line(ulong, ulong, threadgroup void *, const device void *,
                          ulong) __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
thread copying *copy_line(ulong, ulong, device void *, const threadgroup void *,
                          ulong) __asm("air.simdgroup_async_copy_1d.p1i8.p3i8");
thread copying *copy_tile(ulong, ulong, threadgroup void *, ulong, ulong, ulong2,
                          const device void *, ulong, ulong, ulong2, long2,
                          int) __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
thread copying *copy_tile(ulong, ulong, device void *, ulong, ulong, ulong2,
                          const threadgroup void *, ulong, ulong, ulong2, long2,
                          int) __asm("air.simdgroup_async_copy_2d.p1i8.p3i8");
void wait_for(int, thread copying **) __asm("air.wait_simdgroup_events");

kernel void lines_there_and_back(CHECKED, device uint *data [[buffer(1)]],
                                 uint i [[thread_index_in_threadgroup]],
                                 uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint line[70];
    if (i == 0) {
        for (uint k = 0; k < 70; k++)
            data[k] = k * k;
    }
    threadgroup_barrier(mem_flags::mem_device);
    if (simdgroup == 0) {
        thread copying *copy = copy_line(sizeof(uint), alignof(uint), line, data, 70);
        wait_for(1, &copy);
        copy = copy_line(sizeof(uint), alignof(uint), data + 100, line, 70);
        wait_for(1, &copy);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    CHECK(line[69] == 69 * 69 && line[1] == 1 && data[169] == 69 * 69 && data[133] == 33 * 33);
}

// A tile of 5 columns and 6 rows from one of 3 and 4: the rest is 0, or what is nearest.
kernel void tiles_with_an_edge(CHECKED, device half *data [[buffer(1)]],
                               uint i [[thread_index_in_threadgroup]],
                               uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup half zeros[6 * 8], nearest[6 * 8];
    if (i == 0) {
        for (uint k = 0; k < 100; k++)
            data[k] = half(k + 1);
    }
    threadgroup_barrier(mem_flags::mem_device);
    if (simdgroup == 0) {
        thread copying *copies[2] = {
            copy_tile(sizeof(half), alignof(half), zeros, 8, 1, ulong2(5, 6), data, 10, 1,
                      ulong2(3, 4), long2(0), 0),
            copy_tile(sizeof(half), alignof(half), nearest, 8, 1, ulong2(5, 6), data, 10, 1,
                      ulong2(3, 4), long2(0), 1),
        };
        wait_for(2, copies);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint row = 0; row < 6; row++) {
        for (uint column = 0; column < 5; column++) {
            const half inside = half(min(row, 3u) * 10 + min(column, 2u) + 1);
            CHECK(nearest[row * 8 + column] == inside);
            CHECK(zeros[row * 8 + column] == (row < 4 && column < 3 ? inside : 0.0h));
        }
    }
}
