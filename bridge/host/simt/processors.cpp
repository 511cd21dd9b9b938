#include "processors.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sched.h>
#include <sstream>
#include <string>

namespace simt {
namespace {

constexpr uint32_t UNLIMITED = std::numeric_limits<uint32_t>::max();
constexpr int MOST_PROCESSORS = 1 << 16;

uint32_t by_affinity() {
    // The mask must be as large as the kernel's, which only trying tells.
    for (int processors = CPU_SETSIZE; processors <= MOST_PROCESSORS; processors *= 2) {
        cpu_set_t *mask = CPU_ALLOC(processors);
        if (mask == nullptr) break;
        const size_t bytes = CPU_ALLOC_SIZE(processors);
        const bool known = sched_getaffinity(0, bytes, mask) == 0;
        const int count = known ? CPU_COUNT_S(bytes, mask) : 0;
        CPU_FREE(mask);
        if (known) return static_cast<uint32_t>(count);
        if (errno != EINVAL) break;
    }
    return 1;
}

// A quota of 150 ms in 100 ms keeps two processors busy.
uint32_t from_quota(double quota, double period) {
    if (!(quota > 0 && period > 0)) return UNLIMITED;
    const double whole = quota / period;
    return static_cast<uint32_t>(std::min(whole + 0.999, 1e6));
}

uint32_t by_quota_v2(const std::string &folder) {
    double quota = 0, period = 0;
    std::ifstream(folder + "/cpu.max") >> quota >> period;  // "max 100000": no quota
    return from_quota(quota, period);
}

uint32_t by_quota_v1(const std::string &folder) {
    double quota = 0, period = 0;
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;  // -1: no quota
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    return from_quota(quota, period);
}

// The least over a group and those around it. In a container the path is often one of the host that
// is not visible here: then the root, which is the container's own group, has the quota.
template <class Read> uint32_t least(const std::string &root, std::string path, Read read) {
    uint32_t found = read(root);
    for (; !path.empty() && path != "/"; path.erase(path.rfind('/'))) {
        found = std::min(found, read(root + path));
    }
    return found;
}

bool controls_cpu(const std::string &controllers) {
    std::istringstream list(controllers);
    for (std::string name; std::getline(list, name, ',');) {
        if (name == "cpu") return true;
    }
    return false;
}

uint32_t by_control_groups() {
    uint32_t found = UNLIMITED;
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {  // hierarchy:controllers:path
        std::istringstream fields(line);
        std::string hierarchy, controllers, path;
        std::getline(std::getline(fields, hierarchy, ':'), controllers, ':');
        std::getline(fields, path);
        if (hierarchy == "0") {
            found = std::min(found, least("/sys/fs/cgroup", path, by_quota_v2));
        } else if (controls_cpu(controllers)) {
            found = std::min(found, least("/sys/fs/cgroup/cpu", path, by_quota_v1));
        }
    }
    return found;
}

uint32_t by_environment() {
    const char *text = std::getenv("FLASHMETAL_THREADS");
    const long threads = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
    return threads > 0 && threads <= MOST_PROCESSORS ? static_cast<uint32_t>(threads) : 0;
}

}  // namespace

uint32_t processors_allowed() {
    if (const uint32_t threads = by_environment()) return threads;
    return std::max(1u, std::min(by_affinity(), by_control_groups()));
}

}  // namespace simt
