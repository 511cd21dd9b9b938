// Times the SIMT engine on one thread: a tile of decode attention (256 cache rows of one head), a
// barrier, a SIMD-group sum, a threadgroup. With a baseline, both run in turns and the ratio is
// printed. See simt_tile.py.
//
//   simt_tile SOURCE [BASELINE_RUNTIME BASELINE_KERNELS KERNEL=SYMBOL...]
#include "figures.h"
#include "simt_baseline.h"
#include "simt_kernels.h"

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench {

namespace {

constexpr int ROUNDS = 31;
constexpr uint32_t THREADS = 256;  // of a threadgroup
constexpr uint32_t HEADS = 8, TILE_ROWS = 256, TILES = 16, MEETINGS = 100;
constexpr uint16_t HALF_PRECISION_QUARTER = 0x3400;

struct Workload {
    std::string what, kernel, unit;
    double scale;  // from the seconds of a launch
    std::vector<void *> buffers;
    uint32_t threadgroups;
};

// The arguments of one call of the decode kernel.
struct Decode {
    explicit Decode(uint32_t head_dim)
        : query(HEADS * head_dim, 0.25f),
          cache(size_t{HEADS} * TILES * TILE_ROWS * head_dim, HALF_PRECISION_QUARTER),
          out(query.size()),
          parameters{HEADS, HEADS, head_dim, HEADS * head_dim, TILES * TILE_ROWS, 0.125f, {}} {}

    Workload workload() {
        const std::string width = "hd" + std::to_string(parameters.head_dim);
        return {"tile of 256 rows, " + width,
                "flash_attention_" + width,
                "us",
                1e6 / (HEADS * TILES),
                {query.data(), cache.data(), cache.data(), out.data(), &parameters},
                HEADS};
    }

    std::vector<float> query;
    std::vector<uint16_t> cache;  // both K and V
    std::vector<float> out;
    struct {
        uint32_t heads, kv_heads, head_dim, row_elements, rows;
        float scale;
        uint32_t reserved[2];
    } parameters;
};

void print(const char *engine, const Figures &figures, const Workload &workload) {
    printf("%s min %.2f median %.2f %s", engine, figures.least() * workload.scale,
           figures.median() * workload.scale, workload.unit.c_str());
}

void measure(const Workload &workload, Kernels &ours, Baseline *baseline,
             const std::string &symbol) {
    const Grid grid = {{workload.threadgroups, 1, 1}, {THREADS, 1, 1}};
    Figures our_figures, baseline_figures;
    for (int round = 0; round < ROUNDS; round++) {
        our_figures.time([&] { ours.run(workload.kernel, workload.buffers, grid); });
        if (baseline == nullptr) continue;
        baseline_figures.time(
            [&] { baseline->run(symbol, workload.buffers, workload.threadgroups, THREADS); });
    }
    printf("%-24s ", workload.what.c_str());
    print("ours", our_figures, workload);
    if (baseline != nullptr) {
        print(", baseline", baseline_figures, workload);
        printf(", ratio of mins %.2f, of medians %.2f",
               our_figures.least() / baseline_figures.least(),
               our_figures.median() / baseline_figures.median());
    }
    printf("\n");
}

std::map<std::string, std::string> symbols_of(char **arguments, int count) {
    std::map<std::string, std::string> symbols;
    for (int i = 0; i < count; i++) {
        const std::string pair = arguments[i];
        const size_t equals = pair.find('=');
        if (equals == std::string::npos) fail(pair + " is not KERNEL=SYMBOL");
        symbols[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
    return symbols;
}

void run(int count, char **arguments) {
    if (count != 2 && count < 4) fail("arguments: see the head of simt_tile.cpp");
    Kernels ours(arguments[1], 3 << 16 | 1);
    std::unique_ptr<Baseline> baseline;
    std::map<std::string, std::string> symbols;
    if (count > 2) {
        baseline = std::make_unique<Baseline>(arguments[2], arguments[3]);
        symbols = symbols_of(arguments + 4, count - 4);
    }
    Decode narrow(64), wide(128);
    std::vector<float> out(64 * THREADS);
    const double each = 1e9 / (64 * THREADS * MEETINGS);
    const Workload workloads[] = {
        narrow.workload(),
        wide.workload(),
        {"barrier, a thread", "only_barriers", "ns", each, {out.data()}, 64},
        {"SIMD-group sum, a lane", "only_sums", "ns", each, {out.data()}, 64},
        {"threadgroup of 256", "only_start", "us", 1e6 / 64, {out.data()}, 64},
    };
    for (const Workload &workload : workloads) {
        measure(workload, ours, baseline.get(), symbols[workload.kernel]);
    }
}

}  // namespace
}  // namespace bench

int main(int count, char **arguments) {
    bench::run(count, arguments);
}
