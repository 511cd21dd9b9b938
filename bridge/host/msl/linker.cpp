#include "linker.h"

#include "failure.h"
#include "file_descriptor.h"
#include "lines.h"
#include "process.h"
#include "temporary_folder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>

namespace msl {
namespace {

std::string library_of(const void *address) {
    Dl_info found;
    return address && dladdr(address, &found) && found.dli_fname ? found.dli_fname : "";
}

// The libraries of this process that a kernel may call. They are named by path, so that a machine
// without the C library's development files will do. Functions that sanitizers replace with their
// own are of no use here.
std::vector<std::string> runtime_libraries() {
    const auto loader = reinterpret_cast<const void *>(getauxval(AT_BASE));
    return {library_of(dlsym(RTLD_DEFAULT, "fegetround")),
            library_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")), library_of(loader)};
}

// "ld.lld: error: undefined symbol: f(int)", "...: undefined reference to `f(int)'"
std::string undefined_function(const std::string &errors) {
    for (const std::string mark :
         {"undefined hidden symbol: ", "undefined symbol: ", "undefined reference to `"}) {
        const size_t at = errors.find(mark);
        if (at == std::string::npos) continue;
        const size_t start = at + mark.size();
        return errors.substr(start, errors.find_first_of("'\n", start) - start);
    }
    return "";
}

[[noreturn]] void refuse(const Toolchain &toolchain, const Finished &finished) {
    const std::string function = undefined_function(finished.errors);
    if (function.empty()) {
        throw Failure{MSL_FAILURE_IO, toolchain.linker + " failed with status " +
                                          std::to_string(finished.status) + ": " + finished.errors};
    }
    throw Failure{MSL_FAILURE_SOURCE, std::string(SOURCE_NAME) + ": error: function '" + function +
                                          "' is called and nowhere defined\n"};
}

std::string read_file(const std::string &path) {
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string bytes;
    if (!file || !file.read_all(bytes)) throw Failure{MSL_FAILURE_IO, "cannot read " + path};
    return bytes;
}

}  // namespace

std::string link(const Toolchain &toolchain, const std::string &object) {
    // The symbol table is kept: it tells how much threadgroup memory each kernel declares.
    std::vector<std::string> command = {toolchain.linker, "-shared",          "-z",
                                        "defs",           "--hash-style=gnu", "--eh-frame-hdr",
                                        "/proc/self/fd/0"};
    for (const std::string &library : runtime_libraries()) {
        if (!library.empty()) command.push_back(library);
    }
    command.push_back("-o");
    if (toolchain.lld) {
        command.push_back("-");
        const Finished finished = run_program(command, object);
        if (finished.status != 0) refuse(toolchain, finished);
        return finished.output;
    }
    const TemporaryFolder folder;
    command.push_back(folder.path() + "/library.so");
    const Finished finished = run_program(command, object);
    if (finished.status != 0) refuse(toolchain, finished);
    return read_file(command.back());
}

}  // namespace msl
