#include "prefill.h"
#include "levels.h"
#include "prefill_problem.h"
#include "prefill_split.h"
#include "prefill_workspace.h"
#include "scratch.h"

#include <atomic>

namespace native {
namespace {

// What a processor of today takes; only the order of magnitude matters.
constexpr uint64_t LAUNCH_NANOSECONDS = 1000;
constexpr double PRODUCTS_PER_NANOSECOND = 32;
// Of an estimate, so that it fits its type.
constexpr double MOST_NANOSECONDS = 1e18;

// One launch in progress.
class Prefill {
  public:
    Prefill(const PrefillProblem &problem, uint32_t threads)
        : problem_(problem), split_(problem, threads), level_(*levels().front()) {}

    bool run(simt_pool *pool) {
        return simt_pool_for(pool, split_.tasks(), run_task, this) && !lacks_memory_;
    }

  private:
    static void run_task(void *prefill, uint32_t task) {
        Prefill &self = *static_cast<Prefill *>(prefill);
        Scratch &scratch = Scratch::of_thread();
        const size_t floats =
            Workspace(self.problem_.head_dim, nullptr).floats(self.split_.part_blocks);
        if (!scratch.reserve({floats * sizeof(float)})) {
            self.lacks_memory_ = true;
            return;
        }
        float *workspace = scratch.next<float>();
        const uint32_t end = self.split_.first_part(task + 1);
        for (uint32_t part = self.split_.first_part(task); part < end; part++)
            self.attend(part, workspace);
    }

    void attend(uint32_t i, float *workspace) const {
        PrefillPart part = {};
        part.problem = &problem_;
        part.blocks = &split_.blocks;
        part.kv_head = split_.kv_head(i);
        part.first_block = split_.first_block(i);
        part.last_block = split_.last_block(i);
        part.workspace = workspace;
        level_.prefill(part);
    }

    const PrefillProblem &problem_;
    const PrefillSplit split_;
    const Level &level_;
    std::atomic<bool> lacks_memory_{false};
};

uint64_t estimate(const PrefillProblem &problem) {
    const double products =
        2.0 * problem.rows * problem.n_heads * problem.head_dim * problem.steps * PREFILL_STEP_KEYS;
    const double nanoseconds = std::min(products / PRODUCTS_PER_NANOSECOND, MOST_NANOSECONDS);
    return LAUNCH_NANOSECONDS + static_cast<uint64_t>(nanoseconds);
}

}  // namespace

bool prefill_tensor(simt_pool *pool, const simt_launch &launch, uint32_t head_dim) {
    PrefillProblem problem;
    return read_prefill_tensor(launch, head_dim, problem) &&
           Prefill(problem, simt_pool_threads(pool)).run(pool);
}

bool prefill_simdgroup(simt_pool *pool, const simt_launch &launch, uint32_t head_dim) {
    PrefillProblem problem;
    return read_prefill_simdgroup(launch, head_dim, problem) &&
           Prefill(problem, simt_pool_threads(pool)).run(pool);
}

uint64_t prefill_tensor_estimate(const simt_launch &launch, uint32_t head_dim) {
    PrefillProblem problem;
    return read_prefill_tensor(launch, head_dim, problem) ? estimate(problem) : UINT64_MAX;
}

uint64_t prefill_simdgroup_estimate(const simt_launch &launch, uint32_t head_dim) {
    PrefillProblem problem;
    return read_prefill_simdgroup(launch, head_dim, problem) ? estimate(problem) : UINT64_MAX;
}

}  // namespace native
