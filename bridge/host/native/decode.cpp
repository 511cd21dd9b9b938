#include "decode.h"
#include "arithmetic.h"
#include "decode_problem.h"
#include "decode_split.h"
#include "levels.h"
#include "scratch.h"

#include <atomic>
#include <cstring>

namespace native {
namespace {

// What a processor of today takes; only the order of magnitude matters.
constexpr uint64_t LAUNCH_NANOSECONDS = 500;
constexpr uint64_t PRODUCTS_PER_NANOSECOND = 32;

// One launch in progress.
class Decode {
  public:
    Decode(const DecodeProblem &problem, uint32_t threads)
        : problem_(problem), split_(problem, threads), stride_(padded(problem.head_dim)),
          level_(*levels().front()) {}

    // False: no memory.
    bool prepare() {
        const size_t heads = problem_.n_heads, results = heads * split_.chunks;
        Scratch &scratch = Scratch::of_thread();
        if (!scratch.reserve({heads * stride_ * sizeof(float), results * stride_ * sizeof(float),
                              results * sizeof(float), results * sizeof(float),
                              split_.ranges * sizeof *unfinished_}))
            return false;
        queries_ = scratch.next<float>();
        outputs_ = scratch.next<float>();
        peaks_ = scratch.next<float>();
        sums_ = scratch.next<float>();
        unfinished_ = scratch.next<std::atomic<uint32_t>>();
        pad_queries();
        for (uint32_t range = 0; range < split_.ranges; range++)
            new (&unfinished_[range]) std::atomic<uint32_t>(split_.chunks);
        return true;
    }

    bool run(simt_pool *pool) { return simt_pool_for(pool, split_.tasks(), run_task, this); }

  private:
    void pad_queries() {
        for (uint32_t head = 0; head < problem_.n_heads; head++) {
            const float *query = problem_.queries + size_t{head} * problem_.head_dim;
            float *copy = queries_ + size_t{head} * stride_;
            std::memcpy(copy, query, problem_.head_dim * sizeof(float));
            for (uint32_t i = problem_.head_dim; i < stride_; i++)
                copy[i] = 0;
        }
    }

    static void run_task(void *decode, uint32_t task) {
        Decode &self = *static_cast<Decode *>(decode);
        const uint32_t end = self.split_.first_piece(task + 1);
        for (uint32_t piece = self.split_.first_piece(task); piece < end; piece++)
            self.run_piece(piece / self.split_.ranges, piece % self.split_.ranges);
    }

    // The last one to finish a range merges it: nobody waits for anybody.
    void run_piece(uint32_t chunk, uint32_t range) {
        attend(chunk, split_.first_kv_head(range), split_.first_kv_head(range + 1));
        if (unfinished_[range].fetch_sub(1, std::memory_order_acq_rel) == 1) merge(range);
    }

    void attend(uint32_t chunk, uint32_t first, uint32_t last) {
        const uint32_t group = problem_.group(), row = chunk * split_.chunk_rows;
        const size_t head = size_t{first} * group, result = size_t{chunk} * problem_.n_heads + head;
        const size_t at = size_t{row} * problem_.row_stride + size_t{first} * problem_.head_dim;
        DecodePart part = {};
        part.queries = queries_ + head * stride_;
        part.keys = problem_.keys + at;
        part.values = problem_.values + at;
        part.row_stride = problem_.row_stride;
        part.rows = split_.rows(chunk);
        part.tile_rows = split_.tile_rows;
        part.rows_after = problem_.seq_len - row - part.rows;
        part.kv_heads = last - first;
        part.group = group;
        part.head_dim = problem_.head_dim;
        part.scale = problem_.scale * LOG2_E;
        part.peaks = peaks_ + result;
        part.sums = sums_ + result;
        part.outputs = outputs_ + result * stride_;
        level_.attend(part);
    }

    void merge(uint32_t range) {
        const uint32_t group = problem_.group();
        DecodeMerge merge = {};
        merge.peaks = peaks_;
        merge.sums = sums_;
        merge.outputs = outputs_;
        merge.parts = split_.chunks;
        merge.heads = problem_.n_heads;
        merge.first = split_.first_kv_head(range) * group;
        merge.last = split_.first_kv_head(range + 1) * group;
        merge.head_dim = problem_.head_dim;
        merge.out = problem_.out;
        level_.merge(merge);
    }

    const DecodeProblem &problem_;
    const DecodeSplit split_;
    const size_t stride_;  // floats from a head's query, or output, to the next
    const Level &level_;
    float *queries_ = nullptr, *outputs_ = nullptr, *peaks_ = nullptr, *sums_ = nullptr;
    std::atomic<uint32_t> *unfinished_ = nullptr;  // chunks of each range
};

}  // namespace

bool decode(simt_pool *pool, const simt_launch &launch, uint32_t head_dim) {
    DecodeProblem problem;
    const Served served = read_decode_problem(launch, head_dim, problem);
    if (served != Served::YES) return served == Served::NOTHING_TO_DO;
    if (problem.seq_len == 0) {
        std::memset(problem.out, 0, size_t{problem.n_heads} * problem.head_dim * sizeof(float));
        return true;
    }
    Decode decode(problem, simt_pool_threads(pool));
    return decode.prepare() && decode.run(pool);
}

uint64_t decode_estimate(const simt_launch &launch, uint32_t head_dim) {
    DecodeProblem problem;
    const Served served = read_decode_problem(launch, head_dim, problem);
    if (served != Served::YES) return served == Served::NO ? UINT64_MAX : 0;
    const uint64_t heads = problem.n_heads, rows = problem.seq_len;
    return LAUNCH_NANOSECONDS + 2 * heads * problem.head_dim * rows / PRODUCTS_PER_NANOSECOND;
}

}  // namespace native
