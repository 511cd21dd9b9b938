#include "control_groups.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace simt {
namespace {

constexpr double MOST = 1e6;

uint32_t from_quota(double quota, double period) {
    if (!(quota > 0 && period > 0)) return NO_QUOTA;
    return static_cast<uint32_t>(std::min(std::ceil(quota / period), MOST));
}

uint32_t quota_v2(const std::string &folder) {
    double quota = 0, period = 0;
    std::ifstream(folder + "/cpu.max") >> quota >> period;  // "max 100000": no quota
    return from_quota(quota, period);
}

uint32_t quota_v1(const std::string &folder) {
    double quota = 0, period = 0;
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;  // -1: no quota
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    return from_quota(quota, period);
}

// The least over a group and those around it. In a container the path is often one of the host that
// is not visible here: then the root, which is the container's own group, has the quota.
uint32_t least(const std::string &root, const std::string &path,
               uint32_t (*quota)(const std::string &folder)) {
    uint32_t found = quota(root);
    for (size_t end = path.size(); end != 0 && end != std::string::npos;) {
        found = std::min(found, quota(root + path.substr(0, end)));
        end = path.rfind('/', end - 1);
    }
    return found;
}

bool controls_processors(const std::string &controllers) {
    std::istringstream list(controllers);
    for (std::string name; std::getline(list, name, ',');) {
        if (name == "cpu") return true;
    }
    return false;
}

}  // namespace

uint32_t control_groups_quota(const std::string &membership, const std::string &mount) {
    uint32_t found = NO_QUOTA;
    std::ifstream groups(membership);
    for (std::string line; std::getline(groups, line);) {  // hierarchy:controllers:path
        std::istringstream fields(line);
        std::string hierarchy, controllers, path;
        std::getline(std::getline(fields, hierarchy, ':'), controllers, ':');
        std::getline(fields, path);
        if (hierarchy == "0") {
            found = std::min(found, least(mount, path, quota_v2));
        } else if (controls_processors(controllers)) {
            found = std::min(found, least(mount + "/cpu", path, quota_v1));
        }
    }
    return found;
}

}  // namespace simt
