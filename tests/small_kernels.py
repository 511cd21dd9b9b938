"""Small kernels that the tests of the registry and the encoder compile."""

HEADER = "#include <metal_stdlib>\nusing namespace metal;\n"

ADD = (
    HEADER
    + """
kernel void add(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
                constant uint &delta [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    out[i] = in[i] + delta;
}
"""
)

# Two kernels of one text.
PAIR = (
    HEADER
    + """
kernel void ones(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = 1;
}
kernel void twos(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = 2;
}
"""
)

WIDE = (
    HEADER
    + """
kernel void wide(device const float4 *in [[buffer(0)]], device float *out [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
    out[i] = in[i].x + in[i].w;
}
"""
)

# A struct whose last bytes are padding, a pointer that takes bytes, and what nobody reads.
PADDED = (
    HEADER
    + """
struct Pair { ulong first; uint second; };
kernel void padded(device uint *out [[buffer(0)]], constant Pair &pair [[buffer(1)]],
                   constant uint *more [[buffer(2)]], constant uint4 &unused [[buffer(3)]]) {
    out[0] = pair.second + (pair.first ? more[0] : 0);
}
"""
)

SHARED = (
    HEADER
    + """
kernel void shared_sum(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
                       threadgroup uint *scratch [[threadgroup(0)]],
                       uint t [[thread_index_in_threadgroup]],
                       uint n [[threads_per_threadgroup]],
                       uint g [[threadgroup_position_in_grid]]) {
    threadgroup uint total[64];
    scratch[t] = in[g * n + t];
    for (uint i = t; i < 64; i += n) total[i] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0) {
        for (uint i = 0; i < n; i++) total[i % 64] += scratch[i];
        uint sum = 0;
        for (uint i = 0; i < 64; i++) sum += total[i];
        out[g] = sum;
    }
}
"""
)

# Which of `extra` and `plain` it reads depends on a function constant.
OPTIONAL = (
    HEADER
    + """
constant bool has_extra [[function_constant(0)]];
constant int factor [[function_constant(1)]];
kernel void optional(device uint *out [[buffer(0)]],
                     device const uint *extra [[buffer(1), function_constant(has_extra)]],
                     uint i [[thread_position_in_grid]]) {
    out[i] = uint(factor);
    if (has_extra) out[i] += extra[i];
}
"""
)


def commit_add(device, add=None):
    """Commit the pipeline of ADD, or nothing: the encoder, and the buffer that it adds 1 to."""
    words = device.alloc(64, "u32")
    encoder = device.encoder()
    if add is not None:
        encoder.dispatch(add, {0: words, 1: words, 2: (1).to_bytes(4, "little")}, 2, 32)
    encoder.commit()
    return encoder, words
