// The processor quota that containers and service managers set through Linux control groups.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace simt {

constexpr uint32_t NO_QUOTA = std::numeric_limits<uint32_t>::max();

// Processors that the quotas keep busy, rounded up: 150 ms in 100 ms are two. `membership` is a
// file such as /proc/self/cgroup; both versions of control groups are looked for under `mount`.
uint32_t control_groups_quota(const std::string &membership, const std::string &mount);

}  // namespace simt
