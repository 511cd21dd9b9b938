#include "tasks.h"
#include "fault_signal.h"
#include "float_environment.h"

namespace simt {

void Tasks::run() {
    const FloatEnvironment environment;
    const auto work = [](void *tasks) { static_cast<Tasks *>(tasks)->run_all(); };
    if (fault_signal_guard(work, this)) return;
    failed_.store(true, std::memory_order_relaxed);
    next_.store(count_, std::memory_order_relaxed);
}

void Tasks::run_all() {
    for (uint64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;)
        task_(context_, static_cast<uint32_t>(i));
}

}  // namespace simt
