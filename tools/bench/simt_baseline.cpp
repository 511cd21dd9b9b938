#include "simt_baseline.h"
#include "figures.h"

#include <dlfcn.h>

namespace bench {
namespace {

struct Launch {  // as the baseline declares it
    void (*entry)(const void *);
    void (*touch)();
    const char *library_path;
    void *const *buffers;
    const uint64_t *buffer_bytes;
    uint64_t seed;
    uint32_t buffer_count, workers, order, check;
    uint32_t grid[3], group[3], group_memory[8];
};

void *open(const char *path, int flags) {
    void *library = dlopen(path, RTLD_NOW | flags);
    if (library == nullptr) fail(dlerror());
    return library;
}

template <class F> F symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == nullptr) fail(dlerror());
    return reinterpret_cast<F>(found);
}

}  // namespace

Baseline::Baseline(const char *runtime, const char *kernels) : path_(kernels) {
    dispatch_ = symbol<decltype(dispatch_)>(open(runtime, RTLD_GLOBAL), "msl_dispatch");
    kernels_ = open(kernels, RTLD_LOCAL);
}

void Baseline::run(const std::string &entry, const std::vector<void *> &buffers,
                   uint32_t threadgroups, uint32_t threads) {
    const std::vector<uint64_t> lengths(buffers.size());  // only its checker reads them
    Launch launch = {};
    launch.entry = symbol<decltype(launch.entry)>(kernels_, entry.c_str());
    launch.touch = symbol<decltype(launch.touch)>(kernels_, "__msl_touch");
    launch.library_path = path_.c_str();
    launch.buffers = buffers.data();
    launch.buffer_bytes = lengths.data();
    launch.buffer_count = static_cast<uint32_t>(buffers.size());
    launch.workers = 1;
    launch.grid[0] = threadgroups;
    launch.group[0] = threads;
    launch.grid[1] = launch.grid[2] = launch.group[1] = launch.group[2] = 1;
    char error[512];
    if (dispatch_(&launch, error, sizeof error) != 0) fail(error);
}

}  // namespace bench
