// The equivalents of the prefill kernels: right on every level of this CPU, the same bits for every
// number of threads, and out of the way of launches that are not theirs.
#include "levels.h"
#include "native.h"
#include "native_prefill_problem.h"
#include "prefill_split.h"
#include "prefill_workspace.h"
#include "shader_digests.h"

#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using native::Level;

// Against the model, where a rounding that is missing or one too many costs 4e-8.
constexpr double MODEL_NMSE = 1e-8;

const native_kernel *find(const Problem &problem, const char *digest = nullptr) {
    if (problem.family == Family::TENSOR) {
        const std::string name =
            "flash_attn_prefill_tensor_f16_d" + std::to_string(problem.shape.head_dim);
        return native_find(name.c_str(), digest ? digest : DIGEST_flash_attn_prefill_tensor, "");
    }
    return native_find("flash_attn_prefill_simdgroup_f16",
                       digest ? digest : DIGEST_flash_attn_prefill_simdgroup, "");
}

bool run(Problem &problem, uint32_t threads) {
    TestPool pool(threads);
    return native_run(find(problem), pool.pool, &problem.launch);
}

bool is_untouched(const std::vector<float> &out) {
    return std::all_of(out.begin(), out.end(), [](float x) { return x != x; });
}

// ---- each level ---------------------------------------------------------------------------------

native::PrefillProblem described(Problem &problem) {
    const int32_t *words = problem.params;
    native::PrefillProblem described = {};
    described.queries = problem.queries.data();
    described.keys = problem.k.data();
    described.values = problem.v.data();
    described.mask = problem.mask.data();
    described.classes = problem.classes.data();
    described.out = problem.out.data();
    described.rows = problem.shape.rows;
    described.n_heads = problem.shape.n_heads;
    described.n_kv_heads = problem.shape.n_kv_heads;
    described.head_dim = problem.shape.head_dim;
    described.tile_rows = problem.tile_rows;
    described.steps = problem.shape.steps;
    described.q_row_stride = static_cast<size_t>(words[Problem::Q_ROW]);
    described.q_head_stride = static_cast<size_t>(words[Problem::Q_HEAD]);
    described.k_row_stride = static_cast<size_t>(words[Problem::K_ROW]);
    described.k_head_stride = static_cast<size_t>(words[Problem::K_HEAD]);
    described.v_row_stride = static_cast<size_t>(words[Problem::V_ROW]);
    described.v_head_stride = static_cast<size_t>(words[Problem::V_HEAD]);
    described.mask_row_stride = static_cast<size_t>(words[Problem::M_ROW]);
    described.scale = problem.scale();
    return described;
}

// One level's results, in parts of so many blocks.
std::vector<float> attend(const Level &level, Problem &problem, uint32_t part_blocks) {
    const native::PrefillProblem asked = described(problem);
    const native::PrefillBlocks blocks = native::PrefillSplit(asked, 1).blocks;
    const size_t floats = Workspace(asked.head_dim, nullptr).floats(part_blocks);
    // Aligned, as Scratch has it, and full of what must not matter.
    std::vector<float> memory(floats + 16, NAN);
    void *workspace = memory.data();
    size_t room = memory.size() * sizeof(float);
    CHECK(std::align(64, floats * sizeof(float), workspace, room) != nullptr);
    std::fill(problem.out.begin(), problem.out.end(), NAN);
    for (uint32_t kv_head = 0; kv_head < asked.n_kv_heads; kv_head++)
        for (uint32_t first = 0; first < blocks.count; first += part_blocks)
            level.prefill({&asked, &blocks, kv_head, first,
                           std::min(first + part_blocks, blocks.count),
                           static_cast<float *>(workspace)});
    return problem.out;
}

void check_accuracy(const Problem &problem, const std::vector<float> &out, const char *level) {
    const double error = problem.error(out);
    if (error <= MODEL_NMSE) return;
    const Shape &shape = problem.shape;
    fprintf(stderr, "%s: rows %u, heads %u/%u, head_dim %u, steps %u: NMSE %g\n", level, shape.rows,
            shape.n_heads, shape.n_kv_heads, shape.head_dim, shape.steps, error);
    exit(1);
}

constexpr Shape SHAPES[] = {
    {1, 1, 1, 256, 1},
    {33, 2, 1, 256, 2},
    {70, 3, 3, 256, 1},
    {2, 7, 1, 256, 3},
    {16, 4, 2, 256, 2},
    {1, 1, 1, 512, 1},
    {17, 2, 2, 512, 2},
    {40, 2, 1, 512, 3},
    {5, 9, 1, 512, 2},
    {15, 2, 1, 512, 1},
    // Widths that leave parts of vectors.
    {3, 2, 1, 4, 2},
    {20, 2, 1, 20, 1},
    {9, 4, 2, 80, 2},
    {35, 1, 1, 100, 2},
    {33, 2, 2, 128, 1},
    {6, 3, 1, 252, 1},
};

void every_shape_is_accurate(const Level &level) {
    for (const Shape &shape : SHAPES) {
        Problem problem(shape, shape.rows + shape.head_dim);
        check_accuracy(problem, attend(level, problem, 2), level.name);
    }
}

void parts_do_not_change_bits(const Level &level) {
    for (const Shape &shape : {Shape{70, 4, 2, 256, 2}, {50, 3, 1, 512, 3}, {5, 9, 3, 256, 2}}) {
        Problem problem(shape);
        const std::vector<float> expected = attend(level, problem, 1);
        for (uint32_t part_blocks : {2u, 3u, 100u}) {
            const std::vector<float> out = attend(level, problem, part_blocks);
            CHECK(memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0);
        }
    }
}

void rows_that_see_nothing_are_zero(const Level &level) {
    for (uint32_t head_dim : {256u, 512u}) {
        Problem problem({34, 2, 1, head_dim, 2});
        std::fill(problem.classes.begin(), problem.classes.end(), TILE_MIXED);
        std::fill(problem.mask.begin(), problem.mask.end(), 0);
        for (uint32_t row : {0u, 16u, 33u})
            std::fill_n(&problem.mask[row * problem.keys], problem.keys, HIDDEN);
        const std::vector<float> out = attend(level, problem, 2);
        for (uint32_t row = 0; row < 34; row++) {
            const auto first = out.begin() + static_cast<ptrdiff_t>(problem.index(row, 0));
            const bool zero =
                std::all_of(first, first + 2 * head_dim, [](float x) { return x == 0; });
            CHECK_EQUAL(zero, row == 0 || row == 16 || row == 33);
        }
    }
}

// A step that all rows skip, and masks that need not be read, may hold anything.
void skipped_and_open_tiles_are_not_read(const Level &level) {
    for (uint32_t head_dim : {256u, 512u}) {
        Problem problem({40, 2, 1, head_dim, 3});
        for (uint32_t tile = 0; tile < problem.tiles; tile++) {
            for (uint32_t step = 0; step < 3; step++) {
                // As they lie in halves of a block: skip and open, all skip, mixed and skip.
                const uint8_t classes[2][3] = {{TILE_SKIP, TILE_SKIP, TILE_MIXED},
                                               {TILE_OPEN, TILE_SKIP, TILE_SKIP}};
                problem.classes[tile * 3 + step] = classes[tile % 2][step];
            }
        }
        const std::vector<float> expected = attend(level, problem, 2);
        check_accuracy(problem, expected, level.name);
        for (uint32_t tile = 0; tile < problem.tiles; tile++)
            for (uint32_t step = 0; step < 3; step++)
                if (problem.classes[tile * 3 + step] != TILE_MIXED)
                    problem.for_cells(tile, step, [](uint16_t &cell) { cell = NOT_A_NUMBER; });
        const size_t row = head_dim;
        std::fill_n(&problem.k[64 * row], 64 * row, NOT_A_NUMBER);
        std::fill_n(&problem.v[64 * row], 64 * row, NOT_A_NUMBER);
        const std::vector<float> out = attend(level, problem, 2);
        CHECK(memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0);
    }
}

// Peaks that rise by less and by more than what the kernel lets pass, and fall.
void peaks_move_lazily(const Level &level) {
    Problem problem({33, 1, 1, 256, 4});
    std::fill(problem.classes.begin(), problem.classes.end(), TILE_MIXED);
    for (uint32_t row = 0; row < 33; row++) {
        for (uint32_t key = 0; key < problem.keys; key++) {
            const int steps[2][4] = {{0, 7, 14, 40}, {60, 3, 65, 71}};
            const int bias = steps[row % 2][key / 64];  // below 2048: exact in half
            const int exponent = bias == 0 ? 0 : std::ilogb(bias);
            const uint32_t fraction = static_cast<uint32_t>(bias << (10 - exponent)) & 1023;
            problem.mask[row * problem.keys + key] =
                bias == 0 ? 0 : static_cast<uint16_t>((exponent + 15) << 10 | fraction);
        }
    }
    check_accuracy(problem, attend(level, problem, 2), level.name);
}

// ---- launches -----------------------------------------------------------------------------------

void launches_are_accurate() {
    struct {
        Shape shape;
        Family family;
    } launches[] = {{{1, 2, 1, 256, 1}, Family::TENSOR},     {{65, 4, 2, 256, 3}, Family::TENSOR},
                    {{33, 4, 1, 512, 2}, Family::TENSOR},    {{1, 2, 1, 4, 1}, Family::SIMDGROUP},
                    {{40, 6, 2, 100, 3}, Family::SIMDGROUP}, {{9, 2, 2, 64, 2}, Family::SIMDGROUP}};
    for (const auto &launch : launches) {
        Problem problem(launch.shape, 1, launch.family);
        CHECK(run(problem, 2));
        check_accuracy(problem, problem.out, "launch");
        CHECK(native_estimate(find(problem), &problem.launch) < 1000000);
    }
}

// The word is that of the kernels which know no head_dim.
void specialised_kernels_ignore_the_word() {
    for (uint32_t head_dim : {64u, 80u, 96u, 128u, 256u}) {
        Problem problem({20, 2, 1, head_dim, 2}, 1, Family::SIMDGROUP);
        CHECK(run(problem, 1));
        const std::vector<float> expected = problem.out;
        problem.params[10] = 4;
        const std::string name = "flash_attn_prefill_simdgroup_f16_d" + std::to_string(head_dim);
        const native_kernel *kernel =
            native_find(name.c_str(), DIGEST_flash_attn_prefill_simdgroup, "");
        CHECK(native_run(kernel, TestPool().pool, &problem.launch));
        CHECK(problem.out == expected);
    }
}

void threads_do_not_change_bits() {
    for (const Shape &shape : {Shape{100, 8, 2, 256, 4}, {200, 1, 1, 512, 3}, {3, 32, 8, 256, 9}}) {
        Problem problem(shape);
        CHECK(run(problem, 1));
        const std::vector<float> expected = problem.out;
        for (uint32_t threads : {2u, 3u, 7u}) {
            std::fill(problem.out.begin(), problem.out.end(), NAN);
            CHECK(run(problem, threads));
            CHECK(memcmp(problem.out.data(), expected.data(), expected.size() * sizeof(float)) ==
                  0);
        }
    }
}

// Memory that takes room only where it is touched.
class Sparse {
  public:
    explicit Sparse(size_t bytes)
        : bytes_(bytes), memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        CHECK(memory_ != MAP_FAILED);
    }
    Sparse(const Sparse &) = delete;
    Sparse &operator=(const Sparse &) = delete;
    ~Sparse() { munmap(memory_, bytes_); }

    // Rows of an array, so many elements apart.
    template <class T> void fill(const std::vector<T> &array, size_t width, size_t stride) {
        for (size_t i = 0; i < array.size() / width; i++)
            memcpy(static_cast<T *>(memory_) + i * stride, &array[i * width], width * sizeof(T));
    }
    void bind(Launch &launch, int index) const {
        launch.buffers[index] = memory_;
        launch.buffer_lengths[index] = bytes_;
    }

  private:
    size_t bytes_;
    void *memory_;
};

void strides_reach_beyond_32_bits() {
    constexpr size_t STRIDE = size_t{1} << 27;  // elements; times the rows, beyond 2^32
    Problem problem({40, 2, 1, 256, 1});
    std::fill(problem.classes.begin(), problem.classes.end(), TILE_MIXED);
    CHECK(run(problem, 1));
    const std::vector<float> expected = problem.out;
    Sparse q(40 * STRIDE * sizeof(float)), k(64 * STRIDE * sizeof(uint16_t));
    Sparse v(64 * STRIDE * sizeof(uint16_t)), mask(40 * STRIDE * sizeof(uint16_t));
    q.fill(problem.queries, 512, STRIDE);
    k.fill(problem.k, 256, STRIDE);
    v.fill(problem.v, 256, STRIDE);
    mask.fill(problem.mask, 64, STRIDE);
    q.bind(problem.launch, 1);
    k.bind(problem.launch, 2);
    v.bind(problem.launch, 3);
    mask.bind(problem.launch, 4);
    for (Problem::Word word : {Problem::Q_ROW, Problem::K_ROW, Problem::V_ROW, Problem::M_ROW})
        problem.params[word] = STRIDE;
    std::fill(problem.out.begin(), problem.out.end(), NAN);
    CHECK(run(problem, 2));
    CHECK(memcmp(problem.out.data(), expected.data(), expected.size() * sizeof(float)) == 0);
}

// Each broken in one way; `out` must not be written.
void other_launches_are_not_served() {
    void (*const breaks[])(Problem &) = {
        [](Problem &p) { p.launch.threads[0] -= 32; },
        [](Problem &p) { p.launch.threads[1] -= 8; },
        [](Problem &p) { p.launch.threads[2] = 2; },
        [](Problem &p) { p.launch.threads_per_threadgroup[0] = 64; },
        [](Problem &p) { p.launch.threads_per_threadgroup[1] = 4; },
        [](Problem &p) { p.launch.threadgroup_memory[0] = 28800; },
        [](Problem &p) { p.params[Problem::ROWS] = 0; },
        [](Problem &p) { p.params[Problem::ROWS] = -1; },
        [](Problem &p) { p.params[Problem::HEADS] = 0; },
        [](Problem &p) { p.params[Problem::KV_HEADS] = 0; },
        [](Problem &p) { p.params[Problem::KV_HEADS] = 3; },
        [](Problem &p) { p.params[Problem::KV_PAD] = 0; },
        [](Problem &p) { p.params[Problem::KV_PAD] = 100; },
        [](Problem &p) { p.params[Problem::KV_PAD] = 0x7fffffc0; },
        [](Problem &p) { p.params[Problem::Q_ROW] = -1024; },
        [](Problem &p) { p.params[Problem::Q_HEAD] = 0x7fffffff; },
        [](Problem &p) { p.params[Problem::K_ROW] = 0x7fffffff; },
        [](Problem &p) { p.params[Problem::K_HEAD] = -256; },
        [](Problem &p) { p.params[Problem::V_ROW] += 4; },
        [](Problem &p) { p.params[Problem::V_HEAD] += 4; },
        [](Problem &p) { p.params[Problem::M_ROW] = 0x7fffffff; },
        [](Problem &p) { p.launch.buffer_lengths[0] = 44; },
        [](Problem &p) { p.launch.buffer_lengths[1] -= 4; },
        [](Problem &p) { p.launch.buffer_lengths[2] -= 2; },
        [](Problem &p) { p.launch.buffer_lengths[3] -= 2; },
        [](Problem &p) { p.launch.buffer_lengths[4] -= 2; },
        [](Problem &p) { p.launch.buffer_lengths[5] -= 1; },
        [](Problem &p) { p.launch.buffer_lengths[6] -= 4; },
    };
    for (void (*break_it)(Problem &) : breaks) {
        Problem problem({40, 4, 2, 256, 2});
        break_it(problem);
        CHECK(!run(problem, 1));
        CHECK(is_untouched(problem.out));
        CHECK(native_estimate(find(problem), &problem.launch) == UINT64_MAX);
    }
}

void other_head_dims_are_not_served() {
    for (int32_t head_dim : {0, -64, 62, 260, 2048}) {
        Problem problem({2, 1, 1, 64, 1}, 1, Family::SIMDGROUP);
        problem.params[10] = head_dim;
        CHECK(!run(problem, 1));
        CHECK(is_untouched(problem.out));
    }
    Problem problem({2, 1, 1, 100, 1}, 1, Family::SIMDGROUP);
    problem.launch.threadgroup_memory[0] -= 64;
    CHECK(!run(problem, 1));
}

void memory_that_is_not_there_is_not_served() {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    Problem problem({40, 2, 1, 256, 8});
    std::fill(problem.classes.begin(), problem.classes.end(), TILE_OPEN);
    const size_t bytes = (problem.launch.buffer_lengths[2] + page - 1) / page * page;
    void *cache = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(cache != MAP_FAILED);
    CHECK(mprotect(static_cast<char *>(cache) + bytes / 2, page, PROT_NONE) == 0);
    problem.launch.buffers[2] = cache;
    for (uint32_t threads : {1u, 3u})
        CHECK(!run(problem, threads));
    munmap(cache, bytes);
}

void only_the_shipped_text_has_equivalents() {
    for (Family family : {Family::TENSOR, Family::SIMDGROUP}) {
        const Problem problem({1, 1, 1, 256, 1}, 1, family);
        CHECK(find(problem) != nullptr);
        CHECK(find(problem, DIGEST_flash_attention) == nullptr);
    }
    CHECK(find(Problem({1, 1, 1, 128, 1})) == nullptr);
    CHECK(native_find("flash_attn_prefill_tensor_f16_d256", DIGEST_flash_attn_prefill_tensor,
                      "400=32") == nullptr);
}

}  // namespace

int main() {
    for (const Level *level : native::levels()) {
        every_shape_is_accurate(*level);
        parts_do_not_change_bits(*level);
        rows_that_see_nothing_are_zero(*level);
        skipped_and_open_tiles_are_not_read(*level);
        peaks_move_lazily(*level);
    }
    launches_are_accurate();
    specialised_kernels_ignore_the_word();
    threads_do_not_change_bits();
    strides_reach_beyond_32_bits();
    other_launches_are_not_served();
    other_head_dims_are_not_served();
    memory_that_is_not_there_is_not_served();
    only_the_shipped_text_has_equivalents();
}
