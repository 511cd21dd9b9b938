// Prefill attention of one part, compiled once for each CPU level.
#include "level_functions.h"
#include "prefill_block.h"
#include "prefill_pack.h"
#include "prefill_products.h"
#include "prefill_weigh.h"
#include "prefill_workspace.h"

namespace {

constexpr size_t LINE_BYTES = 64;

// Into the second-level cache.
INLINE void prefetch(const void *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += LINE_BYTES)
        __builtin_prefetch(static_cast<const char *>(from) + at, 0, 2);
}

class Part {
  public:
    explicit Part(const native::PrefillPart &part)
        : part_(part), problem_(*part.problem), space_(problem_.head_dim, part.workspace),
          keys_(problem_.keys + part.kv_head * problem_.k_head_stride),
          values_(problem_.values + part.kv_head * problem_.v_head_stride) {}

    void run() {
        const uint32_t blocks = part_.last_block - part_.first_block;
        for (uint32_t i = 0; i < blocks; i++)
            begin(i);
        for (uint32_t step = 0; step < problem_.steps; step++) {
            is_packed_ = false;
            masked_rows_ = NO_ROWS;
            for (uint32_t i = 0; i < blocks; i++) {
                attend(i, step);
                prefetch_cache(step + 1, PREFILL_STEP_KEYS * i / blocks,
                               PREFILL_STEP_KEYS * (i + 1) / blocks);
            }
        }
        for (uint32_t i = 0; i < blocks; i++)
            finish(i);
    }

  private:
    static constexpr uint32_t NO_ROWS = ~0u;

    Block block(uint32_t i) const { return {part_, part_.first_block + i}; }
    const uint16_t *key_row(size_t key) const { return keys_ + key * problem_.k_row_stride; }
    const uint16_t *value_row(size_t key) const { return values_ + key * problem_.v_row_stride; }

    void begin(uint32_t i) {
        const Block queries = block(i);
        for (uint32_t lane = 0; lane < queries.lanes(); lane++)
            prefetch(queries.query(lane), problem_.head_dim * sizeof(float));
        pack_queries([&](uint32_t lane) { return queries.query(lane); }, problem_.head_dim,
                     problem_.scale, space_.queries(i));
        for (uint32_t lane = 0; lane < PREFILL_BLOCK_LANES; lane++)
            space_.peaks(i)[lane] = LEAST_PEAK;
        __builtin_memset(space_.sums(i), 0, PREFILL_BLOCK_LANES * sizeof(float));
        __builtin_memset(space_.outputs(i), 0,
                         size_t{PREFILL_BLOCK_LANES} * space_.width() * sizeof(float));
    }

    // Half blocks apart where their mask tiles differ.
    void attend(uint32_t i, uint32_t step) {
        const Block queries = block(i);
        const uint32_t half = PREFILL_BLOCK_LANES / 2, lanes = queries.lanes();
        const uint8_t first = queries.tile_class(0, step);
        const uint8_t second = lanes > half ? queries.tile_class(half, step) : first;
        if (first == second) return attend(i, queries, step, 0, lanes, first);
        attend(i, queries, step, 0, half, first);
        attend(i, queries, step, half, lanes, second);
    }

    // The lanes from `first` to `last`.
    void attend(uint32_t i, const Block &queries, uint32_t step, uint32_t first, uint32_t last,
                uint8_t tile_class) {
        if (tile_class == native::TILE_SKIP) return;
        pack_cache(step);
        const uint32_t end = (last + Wide::LANES - 1) / Wide::LANES * Wide::LANES;
        if (tile_class == native::TILE_MIXED) pack_tile(queries, step, first, end);
        score(space_.queries(i), space_.keys(), problem_.head_dim, first, end, space_.scores());
        weigh(space_.scores(), tile_class == native::TILE_MIXED ? space_.mask() : nullptr,
              space_.peaks(i), space_.sums(i), space_.outputs(i), space_.width(), first, end);
        add_values<VALUE_VECTORS>(space_.scores(), space_.values(), space_.width(), first, last,
                                  space_.outputs(i));
    }

    // The first block that needs them does it for all.
    void pack_cache(uint32_t step) {
        if (is_packed_) return;
        const size_t key = size_t{step} * PREFILL_STEP_KEYS;
        pack_keys(key_row(key), problem_.k_row_stride, problem_.head_dim, space_.keys());
        pack_values<VALUE_VECTORS>(value_row(key), problem_.v_row_stride, problem_.head_dim,
                                   space_.width(), space_.values());
        is_packed_ = true;
    }

    // Heads share the mask: blocks of the same rows, which follow one another, find it there.
    void pack_tile(const Block &queries, uint32_t step, uint32_t first, uint32_t last) {
        if (masked_rows_ == queries.row_block()) return;
        pack_mask([&](uint32_t lane) { return queries.mask(lane, step); }, first, last,
                  space_.mask());
        masked_rows_ = queries.row_block();
    }

    // While a block computes, its share of the next step's rows comes into the cache.
    void prefetch_cache(uint32_t step, uint32_t first, uint32_t last) {
        if (step == problem_.steps) return;
        const size_t bytes = problem_.head_dim * sizeof(uint16_t);
        for (size_t key = first; key < last; key++) {
            prefetch(key_row(size_t{step} * PREFILL_STEP_KEYS + key), bytes);
            prefetch(value_row(size_t{step} * PREFILL_STEP_KEYS + key), bytes);
        }
    }

    // A row that saw no key is zero.
    void finish(uint32_t i) {
        const Block queries = block(i);
        for (uint32_t lane = 0; lane < queries.lanes(); lane++) {
            const float sum = space_.sums(i)[lane];
            const float *output = space_.outputs(i) + size_t{lane} * space_.width();
            float *out = queries.out(lane);
            for (uint32_t dim = 0; dim < problem_.head_dim; dim += Wide::LANES) {
                const wide x = sum == 0 ? Wide::broadcast(0) : Wide::load(output + dim) / sum;
                store(out + dim, x, problem_.head_dim - dim);
            }
        }
    }

    const native::PrefillPart &part_;
    const native::PrefillProblem &problem_;
    const Workspace space_;
    const uint16_t *keys_, *values_;
    bool is_packed_ = false;
    uint32_t masked_rows_ = NO_ROWS;
};

}  // namespace

namespace native::NATIVE_LEVEL {

void prefill(const PrefillPart &part) {
    Part(part).run();
}

}  // namespace native::NATIVE_LEVEL
