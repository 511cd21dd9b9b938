// Kernels of the kinds that libraries for machine learning ship: matrices, blocks of bits, grids.
#include <metal_stdlib>
using namespace metal;

kernel void rope(device const half *in [[buffer(0)]], device half *out [[buffer(1)]],
                 constant float &base [[buffer(2)]], constant uint &offset [[buffer(3)]],
                 uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
    const uint width = 2 * grid.x, start = (at.z * grid.y + at.y) * width + at.x;
    const float frequency = exp2(-log2(base) * float(at.x) / float(grid.x));
    float cosine, sine = sincos(float(at.y + offset) * frequency, cosine);
    const float2 pair = float2(in[start], in[start + grid.x]);
    out[start] = half(pair.x * cosine - pair.y * sine);
    out[start + grid.x] = half(pair.x * sine + pair.y * cosine);
}

kernel void silu_multiply(device const float4 *gate [[buffer(0)]],
                          device const float4 *up [[buffer(1)]], device float4 *out [[buffer(2)]],
                          uint i [[thread_position_in_grid]]) {
    out[i] = gate[i] / (1.0 + exp(-gate[i])) * up[i];
}

kernel void gelu(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
    const float x = in[i];
    out[i] = 0.5 * x * (1 + precise::tanh(M_2_SQRTPI_F * M_SQRT1_2_F * (x + 0.044715 * x * x * x)));
}

kernel void transpose(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                      constant uint2 &shape [[buffer(2)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint2 at [[thread_position_in_threadgroup]]) {
    constexpr uint TILE = 16;
    threadgroup float tile[TILE][TILE + 1];
    const uint2 from = group * TILE + at, to = group.yx * TILE + at;
    if (all(from < shape.yx)) tile[at.y][at.x] = in[from.y * shape.y + from.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (all(to < shape)) out[to.y * shape.x + to.x] = tile[at.x][at.y];
}

kernel void gather_rows(device const float *table [[buffer(0)]],
                        device const int *rows [[buffer(1)]], device float *out [[buffer(2)]],
                        constant int &count [[buffer(3)]], uint2 at [[thread_position_in_grid]],
                        uint2 grid [[threads_per_grid]]) {
    const int row = rows[at.y] < 0 ? rows[at.y] + count : rows[at.y];
    out[at.y * grid.x + at.x] = table[row * grid.x + at.x];
}

kernel void histogram(device const uchar *in [[buffer(0)]], device atomic_uint *out [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&out[in[i]], 1u, memory_order_relaxed);
}

// Philox 4x32-10.
kernel void random_bits(constant uint2 &key [[buffer(0)]], device uint4 *out [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
    uint4 x = uint4(i, 0, 0, 0);
    uint2 k = key;
    for (int round = 0; round < 10; round++) {
        const uint a = 0xD2511F53, b = 0xCD9E8D57;
        x = uint4(mulhi(b, x.z) ^ x.y ^ k.x, b * x.z, mulhi(a, x.x) ^ x.w ^ k.y, a * x.x);
        k += uint2(0x9E3779B9, 0xBB67AE85);
    }
    out[i] = x;
}

// 32 values of 4 bits with one scale; value j and j + 16 share a byte.
struct Block {
    half scale;
    uchar nibbles[16];
};

kernel void dequantize(device const Block *in [[buffer(0)]], device float *out [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
    const uint j = i % 32;
    device const Block &block = in[i / 32];
    const uchar byte = block.nibbles[j % 16];
    out[i] = float(block.scale) * (int(j < 16 ? byte & 15 : byte >> 4) - 8);
}

// A SIMD-group for each row.
kernel void gemv_4bit(device const Block *matrix [[buffer(0)]], device const float *x [[buffer(1)]],
                      device float *out [[buffer(2)]], constant uint &blocks [[buffer(3)]],
                      uint row [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]]) {
    float sum = 0;
    for (uint b = lane / 2; b < blocks; b += 16) {
        device const Block *block = matrix + row * blocks + b;
        device const float *values = x + b * 32 + lane % 2 * 8;
        float part = 0;
        for (int k = 0; k < 8; k++) {
            const uchar byte = block->nibbles[lane % 2 * 8 + k];
            part += values[k] * ((byte & 0xf) - 8.f) + values[k + 16] * ((byte >> 4) - 8.f);
        }
        sum += part * block->scale;
    }
    sum = simd_sum(sum);
    if (lane == 0) out[row] = sum;
}

// One lane a key, 32 keys at a time; the group's lanes then share out the columns.
kernel void attend(device const float *q [[buffer(0)]], device const half *keys [[buffer(1)]],
                   device const half *values [[buffer(2)]], device float *out [[buffer(3)]],
                   constant uint &length [[buffer(4)]], uint head [[threadgroup_position_in_grid]],
                   uint lane [[thread_index_in_simdgroup]]) {
    constexpr uint WIDTH = 64;
    float highest = -INFINITY, total = 0, own[WIDTH / 32] = {};
    keys += head * length * WIDTH, values += head * length * WIDTH;
    for (uint start = 0; start < length; start += 32) {
        const uint key = start + lane;
        float score = -INFINITY;
        if (key < length) {
            float4 sum = 0;
            device const half4 *k = (device const half4 *)(keys + key * WIDTH);
            for (uint c = 0; c < WIDTH / 4; c++)
                sum += ((device const float4 *)(q + head * WIDTH))[c] * float4(k[c]);
            score = dot(sum, float4(rsqrt(float(WIDTH))));
        }
        const float now = max(highest, simd_max(score)), scale = exp(highest - now);
        const float weight = exp(score - now);
        total = total * scale + simd_sum(weight);
        highest = now;
        for (uint c = 0; c < WIDTH / 32; c++)
            own[c] *= scale;
        for (ushort k = 0; k < 32 && start + k < length; k++) {
            const float shared = simd_broadcast(weight, k);
            for (uint c = 0; c < WIDTH / 32; c++)
                own[c] += shared * values[(start + k) * WIDTH + c * 32 + lane];
        }
    }
    for (uint c = 0; c < WIDTH / 32; c++)
        out[head * WIDTH + c * 32 + lane] = own[c] / total;
}

// Tiles of 16 by 16 in threadgroup memory.
kernel void matmul_threads(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                           device float *c [[buffer(2)]], constant uint3 &shape [[buffer(3)]],
                           uint2 at [[thread_position_in_grid]],
                           ushort2 local [[thread_position_in_threadgroup]]) {
    threadgroup float rows[16][16], columns[16][16];
    float sum = 0;
    for (uint k = 0; k < shape.z; k += 16) {
        rows[local.y][local.x] =
            at.y < shape.x && k + local.x < shape.z ? a[at.y * shape.z + k + local.x] : 0;
        columns[local.y][local.x] =
            at.x < shape.y && k + local.y < shape.z ? b[(k + local.y) * shape.y + at.x] : 0;
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll(16)
        for (ushort j = 0; j < 16; j++)
            sum += rows[local.y][j] * columns[j][local.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (at.y < shape.x && at.x < shape.y) c[at.y * shape.y + at.x] = sum;
}

// Four SIMD-groups make 32 by 32 of c, each a quarter of 16 by 16.
template <typename T>
[[kernel, max_total_threads_per_threadgroup(128)]] void matmul_simdgroups(
    device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device float *c [[buffer(2)]],
    constant uint3 &shape [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]],
    uint i [[thread_index_in_threadgroup]], uint quarter [[simdgroup_index_in_threadgroup]]) {
    threadgroup T rows[32 * 8], columns[8 * 32];
    simdgroup_matrix<T, 8, 8> left[2], right[2];
    simdgroup_float8x8 sums[2][2];
    for (int k = 0; k < 4; k++)
        sums[k / 2][k % 2] = make_filled_simdgroup_matrix<float, 8>(0.f);
    for (uint k = 0; k < shape.z; k += 8) {
        for (uint j = i; j < 256; j += 128) {
            rows[j] = a[(group.y * 32 + j / 8) * shape.z + k + j % 8];
            columns[j] = b[(k + j / 32) * shape.y + group.x * 32 + j % 32];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (ushort j = 0; j < 2; j++) {
            simdgroup_load(left[j], rows + (quarter / 2 * 2 + j) * 64, 8);
            simdgroup_load(right[j], columns, 32, ulong2((quarter % 2 * 2 + j) * 8, 0));
        }
        for (ushort j = 0; j < 4; j++)
            simdgroup_multiply_accumulate(sums[j / 2][j % 2], left[j / 2], right[j % 2],
                                          sums[j / 2][j % 2]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c += (group.y * 32 + quarter / 2 * 16) * shape.y + group.x * 32 + quarter % 2 * 16;
    for (ushort j = 0; j < 4; j++)
        simdgroup_store(sums[j / 2][j % 2], c + j / 2 * 8 * shape.y + j % 2 * 8, shape.y);
}
template [[host_name(
    "matmul_float")]] [[kernel]] decltype(matmul_simdgroups<float>) matmul_simdgroups<float>;
template [[host_name(
    "matmul_half")]] [[kernel]] decltype(matmul_simdgroups<half>) matmul_simdgroups<half>;
