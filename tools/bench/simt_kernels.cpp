#include "simt_kernels.h"
#include "figures.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace bench {
namespace {

std::string text_of(const char *path) {
    std::ifstream file(path);
    if (!file) fail(std::string("cannot read ") + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Kernels::Kernels(const char *source, uint32_t language_version) : pool_(simt_pool_create(1)) {
    const std::string text = text_of(source);
    msl_request request = {};
    request.source = text.data();
    request.length = text.size();
    request.language_version = language_version;
    request.math_mode = MSL_MATH_RELAXED;
    request.tensor_api = true;
    msl_failure failure;
    msl_set_headers(MSL_HEADERS);
    library_ = msl_compile(&request, &failure);
    if (library_ == nullptr) fail(failure.message);
    msl_library_bind(library_, &simt_runtime);
}

Kernels::~Kernels() {
    simt_pool_release(pool_);
    msl_library_release(library_);
}

void Kernels::run(const std::string &kernel, const std::vector<void *> &buffers, const Grid &grid) {
    simt_launch launch = {};
    launch.library = library_;
    launch.kernel = msl_library_find(library_, kernel.c_str());
    if (launch.kernel == nullptr) fail("no kernel " + kernel);
    std::copy(buffers.begin(), buffers.end(), launch.buffers);
    launch.threadgroup_memory[0] = grid.threadgroup_memory;
    for (int k = 0; k < 3; k++) {
        launch.threads[k] = grid.threadgroups[k] * grid.threads[k];
        launch.threads_per_threadgroup[k] = grid.threads[k];
    }
    simt_fault fault;
    if (simt_run(pool_, &launch, &fault) != SIMT_FAULT_NONE) fail(fault.message);
}

}  // namespace bench
