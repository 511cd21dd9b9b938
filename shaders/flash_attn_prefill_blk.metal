// Classifies the tiles of an attention mask, so that prefill attention skips those that hide all of
// their keys and adds no mask where it is zero. One SIMD-group per tile; README.md has the classes.
#include <metal_stdlib>
using namespace metal;

constant int BQ [[function_constant(400)]];  // query rows of a tile
constant int BK [[function_constant(401)]];  // keys of a tile

constant constexpr uint LANES = 32;
constant constexpr float HIDDEN = -1e30f;  // a cell up to here hides its key from its query

enum TileClass : uchar { SKIP = 0, MIXED = 1, OPEN = 2 };

// What the host passes at index 2: four 32-bit words.
struct BlkParams {
    int seq_len_q;
    int seq_len_k;
    int mask_row_stride;  // elements
    int reserved;
};
static_assert(sizeof(BlkParams) == 16, "the host packs four words");

// clang-format off: one argument a line
template <typename Cell>
[[kernel, max_total_threads_per_threadgroup(LANES)]] void
classify_tile(device const Cell *mask [[buffer(0)]],
              device uchar *blk [[buffer(1)]],
              constant BlkParams &params [[buffer(2)]],
              uint3 tile [[threadgroup_position_in_grid]],
              uint3 tiles [[threadgroups_per_grid]],
              uint lane [[thread_index_in_simdgroup]])
// clang-format on
{
    const long first_row = long(tile.y) * BQ;
    const long first_key = long(tile.x) * BK;
    const long end_row = min(first_row + BQ, long(params.seq_len_q));

    // A tile cut off at the right edge is mixed whatever its cells: attention walks whole tiles.
    const bool whole = first_key + BK <= params.seq_len_k;
    bool hidden = whole;
    bool open = whole;
    for (long row = first_row; row < end_row && (hidden || open); row++) {
        device const Cell *cells = mask + row * params.mask_row_stride + first_key;
        for (int key = int(lane); key < BK; key += int(LANES)) {
            const float cell = float(cells[key]);  // a comparison with NaN is false: mixed
            hidden = hidden && cell <= HIDDEN;
            open = open && cell == 0.0f;
        }
    }

    const bool all_hidden = simd_all(hidden);
    const bool all_open = simd_all(open);
    if (lane == 0) {
        blk[ulong(tile.y) * tiles.x + tile.x] = all_hidden ? SKIP : all_open ? OPEN : MIXED;
    }
}

using ClassifyHalf = decltype(classify_tile<half>);
using ClassifyBfloat = decltype(classify_tile<bfloat>);
// clang-format off: one entry point a line
template [[host_name("flash_attn_prefill_blk_f16")]] [[kernel]] ClassifyHalf classify_tile<half>;
template [[host_name("flash_attn_prefill_blk_bf16")]] [[kernel]] ClassifyBfloat classify_tile<bfloat>;
// clang-format on
