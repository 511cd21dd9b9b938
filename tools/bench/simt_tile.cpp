// Times the SIMT engine on one thread: a tile of decode attention (256 cache rows of one head), a
// barrier, a SIMD-group sum, a threadgroup. With a baseline, both run in turns and the ratio is
// printed. Processor time of the thread, so that neighbours disturb less. See simt_tile.py.
//
//   simt_tile SOURCE [BASELINE_RUNTIME BASELINE_KERNELS KERNEL=SYMBOL...]
#include "simt.h"
#include "simt_baseline.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench {

void fail(const std::string &what) {
    fprintf(stderr, "simt_tile: %s\n", what.c_str());
    exit(1);
}

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

std::string text_of(const char *path) {
    std::ifstream file(path);
    if (!file) fail(std::string("cannot read ") + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Ours {
  public:
    explicit Ours(const char *source) : pool_(simt_pool_create(1)) {
        const std::string text = text_of(source);
        msl_request request = {};
        request.source = text.data();
        request.length = text.size();
        request.language_version = 3 << 16 | 1;
        request.math_mode = MSL_MATH_RELAXED;
        msl_failure failure;
        msl_set_headers(MSL_HEADERS);
        library_ = msl_compile(&request, &failure);
        if (library_ == nullptr) fail(failure.message);
        msl_library_bind(library_, &simt_runtime);
    }
    Ours(const Ours &) = delete;
    Ours &operator=(const Ours &) = delete;
    ~Ours() {
        simt_pool_release(pool_);
        msl_library_release(library_);
    }

    void run(const Workload &workload) {
        simt_launch launch = {};
        launch.library = library_;
        launch.kernel = msl_library_find(library_, workload.kernel.c_str());
        if (launch.kernel == nullptr) fail("no kernel " + workload.kernel);
        std::copy(workload.buffers.begin(), workload.buffers.end(), launch.buffers);
        const uint32_t threads[] = {workload.threadgroups * THREADS, 1, 1};
        const uint32_t size[] = {THREADS, 1, 1};
        std::copy(threads, threads + 3, launch.threads);
        std::copy(size, size + 3, launch.threads_per_threadgroup);
        simt_fault fault;
        if (simt_run(pool_, &launch, &fault) != SIMT_FAULT_NONE) fail(fault.message);
    }

  private:
    simt_pool *pool_;
    msl_library *library_;
};

double thread_seconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Figures {
  public:
    template <class F> void time(F run) {
        const double start = thread_seconds();
        run();
        seconds_.push_back(thread_seconds() - start);
    }
    double least() const { return *std::min_element(seconds_.begin(), seconds_.end()); }
    double median() const {
        std::vector<double> sorted(seconds_);
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }

  private:
    std::vector<double> seconds_;
};

void print(const char *engine, const Figures &figures, const Workload &workload) {
    printf("%s min %.2f median %.2f %s", engine, figures.least() * workload.scale,
           figures.median() * workload.scale, workload.unit.c_str());
}

void measure(const Workload &workload, Ours &ours, Baseline *baseline, const std::string &symbol) {
    Figures our_figures, baseline_figures;
    for (int round = 0; round < ROUNDS; round++) {
        our_figures.time([&] { ours.run(workload); });
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
    Ours ours(arguments[1]);
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
