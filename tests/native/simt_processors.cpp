// How many threads a pool gets by default: the environment, the affinity and the quotas decide.
#include "control_groups.h"
#include "simt_support.h"

#include <filesystem>
#include <fstream>
#include <sched.h>
#include <string>
#include <thread>

namespace {

uint32_t default_threads() {
    TestPool pool(0);
    return simt_pool_threads(pool.pool);
}

// Whether there is something wrong with the environment, and the text says with what.
bool fault_names(const std::string &value) {
    char *fault = simt_environment_fault();
    const bool names = fault && std::string(fault).find("\"" + value + "\"") != std::string::npos;
    free(fault);
    return names;
}

void the_environment_comes_first() {
    setenv("FLASHMETAL_THREADS", "3", 1);
    CHECK_EQUAL(default_threads(), 3);
    CHECK(!fault_names("3"));
    for (const char *nonsense : {"0", "-2", "many", "3 or 4", "", "99999999999999999999"}) {
        setenv("FLASHMETAL_THREADS", nonsense, 1);
        CHECK_EQUAL(fault_names(nonsense), *nonsense != '\0');
        CHECK(default_threads() >= 1);
        CHECK(default_threads() <= std::thread::hardware_concurrency());
    }
    unsetenv("FLASHMETAL_THREADS");
}

void the_affinity_limits() {
    cpu_set_t all, one;
    CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int processor = 0; CPU_COUNT(&one) == 0; processor++) {
        if (CPU_ISSET(processor, &all)) CPU_SET(processor, &one);
    }
    CHECK_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_EQUAL(default_threads(), 1);
    CHECK_EQUAL(sched_setaffinity(0, sizeof all, &all), 0);
}

// A tree of control groups in a temporary folder.
struct Groups {
    Groups() {
        std::string name = std::filesystem::temp_directory_path() / "simt_processors_XXXXXX";
        CHECK(mkdtemp(name.data()) != nullptr);
        mount = name;
    }
    Groups(const Groups &) = delete;
    Groups &operator=(const Groups &) = delete;
    ~Groups() { std::filesystem::remove_all(mount); }

    void file(const std::string &path, const std::string &text) {
        std::filesystem::create_directories(std::filesystem::path(mount + path).parent_path());
        std::ofstream(mount + path) << text;
    }
    uint32_t quota(const std::string &membership) {
        file("/membership", membership);
        return simt::control_groups_quota(mount + "/membership", mount);
    }

    std::string mount;
};

void quotas_of_version_two_limit() {
    Groups groups;
    CHECK_EQUAL(groups.quota("0::/service/worker\n"), simt::NO_QUOTA);
    groups.file("/service/worker/cpu.max", "max 100000\n");
    CHECK_EQUAL(groups.quota("0::/service/worker\n"), simt::NO_QUOTA);
    groups.file("/service/cpu.max", "350000 100000\n");
    CHECK_EQUAL(groups.quota("0::/service/worker\n"), 4);
    groups.file("/service/worker/cpu.max", "50000 100000\n");
    CHECK_EQUAL(groups.quota("0::/service/worker\n"), 1);
    CHECK_EQUAL(groups.quota("0::/service\n"), 4);
}

void a_container_finds_its_quota_at_the_root() {
    Groups groups;
    groups.file("/cpu.max", "200000 100000\n");
    for (const char *path : {"/", "/not/visible/here", "/../..", ""}) {
        CHECK_EQUAL(groups.quota("0::" + std::string(path) + "\n"), 2);
    }
}

void quotas_of_version_one_limit() {
    Groups groups;
    groups.file("/cpu/job/cpu.cfs_quota_us", "-1\n");
    groups.file("/cpu/job/cpu.cfs_period_us", "100000\n");
    const char *membership = "5:memory:/elsewhere\n4:cpuacct,cpu:/job\n3:cpuset:/job\n";
    CHECK_EQUAL(groups.quota(membership), simt::NO_QUOTA);
    groups.file("/cpu/job/cpu.cfs_quota_us", "250000\n");
    CHECK_EQUAL(groups.quota(membership), 3);
    CHECK_EQUAL(groups.quota("3:cpuset:/job\n"), simt::NO_QUOTA);
}

void without_control_groups_there_is_no_quota() {
    CHECK_EQUAL(simt::control_groups_quota("/not/there", "/not/there"), simt::NO_QUOTA);
}

}  // namespace

int main() {
    the_environment_comes_first();
    the_affinity_limits();
    quotas_of_version_two_limit();
    a_container_finds_its_quota_at_the_root();
    quotas_of_version_one_limit();
    without_control_groups_there_is_no_quota();
}
