#include "processors.h"
#include "control_groups.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sched.h>

namespace simt {
namespace {

constexpr int MOST_PROCESSORS = 1 << 16;

uint32_t by_affinity() {
    // The mask must be as large as the kernel's, which only trying tells.
    for (int processors = CPU_SETSIZE; processors <= MOST_PROCESSORS; processors *= 2) {
        cpu_set_t *mask = CPU_ALLOC(processors);
        if (mask == nullptr) break;
        const size_t bytes = CPU_ALLOC_SIZE(processors);
        const bool known = sched_getaffinity(0, bytes, mask) == 0;
        const bool too_small = !known && errno == EINVAL;
        const int count = known ? CPU_COUNT_S(bytes, mask) : 1;
        CPU_FREE(mask);
        if (!too_small) return static_cast<uint32_t>(count);
    }
    return 1;
}

constexpr char VARIABLE[] = "FLASHMETAL_THREADS";

// Empty: not said.
std::string said() {
    const char *text = std::getenv(VARIABLE);
    return text == nullptr ? "" : text;
}

// 0: no number of threads.
uint32_t number(const std::string &text) {
    char *end;
    const long threads = std::strtol(text.c_str(), &end, 10);
    const bool whole = !text.empty() && *end == '\0';
    return whole && threads > 0 && threads <= MOST_PROCESSORS ? static_cast<uint32_t>(threads) : 0;
}

}  // namespace

std::string environment_fault() {
    const std::string text = said();
    if (text.empty() || number(text)) return "";
    return std::string(VARIABLE) + " must be a whole number from 1 to " +
           std::to_string(MOST_PROCESSORS) + ", not \"" + text + "\"";
}

uint32_t processors_allowed() {
    if (const uint32_t threads = number(said())) return threads;
    const uint32_t quota = control_groups_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    return std::max(1u, std::min(by_affinity(), quota));
}

}  // namespace simt
