// <metal_compute>: barriers.
#pragma once

namespace metal {

enum class mem_flags {
    mem_none = 0,
    mem_device = 1,
    mem_threadgroup = 2,
    mem_texture = 4,
    mem_device_and_threadgroup = mem_device | mem_threadgroup,
    mem_threadgroup_imageblock = 8,
    mem_object_data = 16,
};
constexpr mem_flags operator|(mem_flags a, mem_flags b) {
    return mem_flags(int(a) | int(b));
}
constexpr mem_flags operator&(mem_flags a, mem_flags b) {
    return mem_flags(int(a) & int(b));
}
constexpr mem_flags operator^(mem_flags a, mem_flags b) {
    return mem_flags(int(a) ^ int(b));
}
constexpr mem_flags operator~(mem_flags a) {
    return mem_flags(~int(a));
}

// As the host reads the size of an indirect dispatch.
struct MTLDispatchThreadgroupsIndirectArguments {
    uint threadgroupsPerGrid[3];
};

MSL_CONVERGENT inline void threadgroup_barrier(mem_flags flags, MSL_SITE) {
    __msl::tell_fence(MSL_FENCE_THREADGROUP, int(flags));
    __msl::engine.barrier(site);
}
MSL_CONVERGENT inline void simdgroup_barrier(mem_flags flags, MSL_SITE) {
    __msl::engine.simd_wait(site, MSL_SIMD_BARRIER);
    __msl::tell_fence(MSL_FENCE_SIMDGROUP, int(flags));
}

}  // namespace metal
