#include "decode_split.h"
#include "arithmetic.h"
#include "decode_part.h"

namespace native {
namespace {

constexpr uint32_t LEAST_CHUNK_ROWS = 256;
// More than this many only make more results to merge.
constexpr uint32_t MOST_CHUNKS = 64;

// Waking a thread takes as long as one takes to read this much of a cache.
constexpr uint64_t BYTES_ALONE = 512 * 1024;
constexpr uint64_t LEAST_PIECE_BYTES = 64 * 1024;
// So that a thread that comes late leaves little to wait for.
constexpr uint32_t PIECES_PER_THREAD = 8;
// Problems that do not stay in the caches wait for memory: what is fetched for the next tile must
// not drive out this one. For the others, more rows at a time are less work.
constexpr uint64_t CACHED_BYTES = 32 << 20;
constexpr uint64_t FEW_ROW_BYTES = 1024;
constexpr uint32_t STREAMED_TILE_ROWS = 64;
// A wider part of a row would not let a tile stay in the second-level cache.
constexpr uint64_t MOST_ROW_BYTES = 4096;

uint32_t rows_of_chunks(uint32_t seq_len) {
    uint64_t rows = LEAST_CHUNK_ROWS;
    while (rows * MOST_CHUNKS < seq_len)
        rows *= 2;
    return static_cast<uint32_t>(rows);
}

}  // namespace

DecodeSplit::DecodeSplit(const DecodeProblem &problem, uint32_t threads)
    : seq_len(problem.seq_len), n_kv_heads(problem.n_kv_heads),
      chunk_rows(rows_of_chunks(problem.seq_len)), chunks(divide_up(seq_len, chunk_rows)) {
    const uint64_t row_bytes = uint64_t{n_kv_heads} * problem.head_dim * sizeof(uint16_t);
    const uint64_t bytes = 2 * row_bytes * seq_len;  // of keys and values
    const bool streams = bytes > CACHED_BYTES && row_bytes > FEW_ROW_BYTES;
    tile_rows = streams ? STREAMED_TILE_ROWS : DECODE_MOST_TILE_ROWS;
    together = threads == 1 || bytes < BYTES_ALONE;
    uint64_t wanted = divide_up(row_bytes, MOST_ROW_BYTES);
    if (!together) {
        const uint64_t pieces =
            std::min<uint64_t>(uint64_t{threads} * PIECES_PER_THREAD, bytes / LEAST_PIECE_BYTES);
        wanted = std::max<uint64_t>(wanted, divide_up(pieces, chunks));
    }
    ranges = static_cast<uint32_t>(std::clamp<uint64_t>(wanted, 1, n_kv_heads));
}

}  // namespace native
