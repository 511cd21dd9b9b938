#include "msl.h"

#include "compile_cache.h"
#include "cpu_level.h"
#include "failure.h"
#include "file_descriptor.h"
#include "glue.h"
#include "interruption.h"
#include "paths.h"
#include "toolchain.h"

#include <cstring>
#include <fcntl.h>

namespace {

// PATH.hostlib stands for PATH.<cpu level>.hostlib.
msl_library *open_best(const std::string &path) {
    static const std::string suffix = ".hostlib";
    const size_t dot = path.size() - std::min(path.size(), suffix.size());
    const std::string stem =
        path.compare(dot, suffix.size(), suffix) == 0 ? path.substr(0, dot) : path;
    for (const std::string &level : msl::cpu_levels()) {
        const std::string file_name = stem + "." + level + suffix;
        const msl::FileDescriptor file(open(file_name.c_str(), O_RDONLY | O_CLOEXEC));
        std::string bytes;
        if (file && file.read_all(bytes)) return new msl_library(bytes);
    }
    throw msl::Failure{MSL_FAILURE_IO, "no library for this CPU at " + path + " (looked for " +
                                           stem + "." + msl::cpu_levels().back() + suffix + ")"};
}

// No exception leaves the C API.
template <class F> msl_library *guarded(msl_failure *failure, F work) {
    msl::Failure problem;
    msl::Interruption interruption;
    try {
        return work();
    } catch (const msl::Failure &thrown) {
        problem = thrown;
    } catch (const std::exception &thrown) {
        problem = {MSL_FAILURE_IO, thrown.what()};
    }
    failure->kind = problem.kind;
    failure->message = strdup(problem.message.c_str());
    return nullptr;
}

}  // namespace

msl_library *msl_compile(const msl_request *request, msl_failure *failure) {
    return guarded(failure, [&] { return msl::find_or_compile(*request); });
}

msl_library *msl_check(const msl_request *request, msl_failure *failure) {
    return guarded(failure, [&] { return msl::find_or_check(*request); });
}

msl_library *msl_open(const char *path, msl_failure *failure) {
    return guarded(failure, [&] { return open_best(path); });
}

msl_library *msl_library_retain(msl_library *library) {
    library->retain();
    return library;
}

void msl_library_release(msl_library *library) {
    if (library->release()) delete library;
}

void msl_library_bind(msl_library *library, const msl_runtime *runtime) {
    if (library->image().bind) library->image().bind(runtime);
}

size_t msl_library_kernel_count(const msl_library *library) {
    return library->image().kernel_count;
}

const msl_kernel *msl_library_kernel(const msl_library *library, size_t i) {
    return &library->image().kernels[i];
}

const msl_kernel *msl_library_find(const msl_library *library, const char *name) {
    return library->find(name);
}

const char *msl_library_source_digest(const msl_library *library) {
    return library->image().source_digest;
}

const char *msl_library_constants(const msl_library *library) {
    return library->image().constants;
}

uint32_t msl_kernel_static_memory(const msl_library *library, const msl_kernel *kernel) {
    return library->static_memory(kernel);
}

void *msl_library_threadgroup_block(const msl_library *library, size_t *bytes) {
    return library->threadgroup_block(bytes);
}

size_t msl_library_threadgroup_variables(const msl_library *library,
                                         const msl_variable **variables) {
    *variables = library->threadgroup_variables().data();
    return library->threadgroup_variables().size();
}

bool msl_library_place(const msl_library *library, const void *address, msl_place *place) {
    const msl::LinePlace found = library->line_of(address);
    if (found.line == 0 || found.file.empty() || found.file == msl::GLUE_NAME) return false;
    *place = {found.file.data(), found.line, found.exact};
    return true;
}

const void *msl_library_image(const msl_library *library, size_t *bytes) {
    return library->memory(bytes);
}

void msl_set_headers(const char *folder) {
    msl::set_header_folder(folder);
}

void msl_set_cache(const char *folder) {
    msl::set_cache_folder(folder);
}

void msl_set_interruption(bool (*interrupted)(void)) {
    msl::set_interruption(interrupted);
}

char *msl_cache_folder(void) {
    const std::string folder = msl::cache_folder();
    return folder.empty() ? nullptr : strdup(folder.c_str());
}

char *msl_environment_fault(void) {
    const std::string cpu = msl::cpu_level_fault();
    const std::string fault = cpu.empty() ? msl::cache_folder_fault() : cpu;
    return fault.empty() ? nullptr : strdup(fault.c_str());
}

char *msl_compiler_version(void) {
    try {
        return strdup(msl::ask_compiler(msl::find_compiler()).version.c_str());
    } catch (...) {
        return nullptr;
    }
}

uint64_t msl_compile_count(void) {
    return msl::compilations();
}
