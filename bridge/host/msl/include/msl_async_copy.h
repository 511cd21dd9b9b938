// What the lanes of a SIMD-group copy together between device and threadgroup memory. Undocumented,
// but public sources declare it. Here the copy is made at once, and waiting is a barrier.
#pragma once

namespace __msl {

// Of `count` things to do, each lane that takes part does every so many: from `first`.
struct lane_share {
    ulong first, step;
};

MSL_CONVERGENT inline lane_share share_work() {
    const operands<uchar> lanes = meet(uchar(1), MSL_LAST_SITE);
    const uint32_t below = lanes.mask() & ((1u << lanes.lane) - 1);
    return {ulong(__builtin_popcount(below)), ulong(__builtin_popcount(lanes.mask()))};
}

}  // namespace __msl

#define MSL_INTRINSIC                                                                              \
    extern "C" __attribute__((used, noinline, visibility("hidden"))) MSL_CONVERGENT

MSL_INTRINSIC void *__msl_async_copy_1d(ulong size, ulong, void *to, const void *from,
                                        ulong count) {
    const __msl::lane_share share = __msl::share_work();
    for (ulong i = share.first; i < count; i += share.step)
        __builtin_memcpy((char *)to + i * size, (const char *)from + i * size, size);
    return nullptr;
}

// A tile has columns and rows; `offset` is where the destination's lies in the source's. What is
// outside the source's becomes 0 or, if `to_edge`, its nearest element.
MSL_INTRINSIC void *__msl_async_copy_2d(ulong size, ulong, void *to, ulong to_stride, ulong,
                                        metal::ulong2 to_tile, const void *from, ulong from_stride,
                                        ulong, metal::ulong2 from_tile, metal::long2 offset,
                                        int to_edge) {
    const __msl::lane_share share = __msl::share_work();
    const long columns = long(from_tile.get(0)), rows = long(from_tile.get(1));
    for (ulong i = share.first; i < to_tile.get(1); i += share.step) {
        for (ulong j = 0; j < to_tile.get(0); j++) {
            const long row = long(i) + offset.get(1), column = long(j) + offset.get(0);
            const long from_row = metal::clamp(row, 0l, rows - 1);
            const long from_column = metal::clamp(column, 0l, columns - 1);
            char *element = (char *)to + (i * to_stride + j) * size;
            if (to_edge || (row == from_row && column == from_column)) {
                const ulong place = ulong(from_row) * from_stride + ulong(from_column);
                __builtin_memcpy(element, (const char *)from + place * size, size);
            } else {
                __builtin_memset(element, 0, size);
            }
        }
    }
    return nullptr;
}

MSL_INTRINSIC void __msl_wait_for_copies(int, void **) {
    metal::simdgroup_barrier(metal::mem_flags::mem_device | metal::mem_flags::mem_threadgroup,
                             MSL_LAST_SITE);
}

#undef MSL_INTRINSIC
