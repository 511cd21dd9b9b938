// Times tensor prefill attention on one thread, in turns with a loop of nothing but fused
// multiplications and additions, and prints which part of that speed its two products reach.
//
//   simt_prefill SOURCE
#include "figures.h"
#include "fma_peak.h"
#include "simt_kernels.h"

#include <cstdio>
#include <string>
#include <vector>

namespace bench {
namespace {

constexpr int ROUNDS = 15;
constexpr int ROWS = 128, HEADS = 2, CACHE_ROWS = 1344, CACHE_ROWS_PER_STEP = 64;
constexpr uint32_t SIMDGROUPS = 8;
constexpr uint16_t HALF_PRECISION_QUARTER = 0x3400;
constexpr uint8_t NOTHING_MASKED = 2;

// The arguments of one call, for one K and V head.
class Prefill {
  public:
    Prefill(int head_dim, int queries)
        : head_dim_(head_dim), queries_(queries), query_(size_t(ROWS) * HEADS * head_dim, 0.25f),
          cache_(size_t(CACHE_ROWS) * head_dim, HALF_PRECISION_QUARTER),
          mask_(size_t(ROWS) * CACHE_ROWS),
          classes_(size_t(ROWS / queries) * (CACHE_ROWS / CACHE_ROWS_PER_STEP), NOTHING_MASKED),
          out_(query_.size()),
          parameters_{ROWS,     HEADS,    1,        CACHE_ROWS, HEADS * head_dim, head_dim,
                      head_dim, head_dim, head_dim, head_dim,   CACHE_ROWS,       0.0625f} {}

    double operations() const { return 4.0 * ROWS * HEADS * CACHE_ROWS * head_dim_; }

    void run(Kernels &kernels) {
        const int scores = queries_ * CACHE_ROWS_PER_STEP;
        const int bytes = queries_ * head_dim_ * 2 + scores * (4 + 2) + queries_ * 4 + 4;
        const Grid grid = {{uint32_t(ROWS / queries_), HEADS, 1},
                           {MSL_LANES, SIMDGROUPS, 1},
                           uint32_t(bytes + 15) / 16 * 16};
        kernels.run("flash_attn_prefill_tensor_f16_d" + std::to_string(head_dim_),
                    {&parameters_, query_.data(), cache_.data(), cache_.data(), mask_.data(),
                     classes_.data(), out_.data()},
                    grid);
    }

  private:
    int head_dim_, queries_;
    std::vector<float> query_;
    std::vector<uint16_t> cache_;  // both K and V
    std::vector<uint16_t> mask_;
    std::vector<uint8_t> classes_;
    std::vector<float> out_;
    struct {
        int32_t rows, heads, kv_heads, cache_rows, q_row_stride, q_head_stride, k_row_stride,
            k_head_stride, v_row_stride, v_head_stride, mask_row_stride;
        float scale;
    } parameters_;
};

double giga(double operations, double seconds) {
    return operations / seconds * 1e-9;
}

void measure(Kernels &kernels, int head_dim, int queries) {
    Prefill prefill(head_dim, queries);
    Figures attention, peak;
    double operations = 0;
    for (int round = 0; round < ROUNDS; round++) {
        attention.time([&] { prefill.run(kernels); });
        peak.time([&] { operations = multiply_and_add(); });
    }
    const double best = giga(prefill.operations(), attention.least());
    const double typical = giga(prefill.operations(), attention.median());
    const double best_peak = giga(operations, peak.least());
    const double typical_peak = giga(operations, peak.median());
    printf("head_dim %d: best %.1f median %.1f GFLOP/s; peak best %.1f median %.1f GFLOP/s; "
           "ratio of bests %.1f %%, of medians %.1f %%\n",
           head_dim, best, typical, best_peak, typical_peak, 100 * best / best_peak,
           100 * typical / typical_peak);
}

}  // namespace
}  // namespace bench

int main(int count, char **arguments) {
    if (count != 2) bench::fail("argument: the shader's file");
    bench::Kernels kernels(arguments[1], 4 << 16);
    bench::measure(kernels, 256, 32);
    bench::measure(kernels, 512, 16);
}
