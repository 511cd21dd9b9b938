#include "toolchain.h"

#include "failure.h"
#include "process.h"

#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace msl {
namespace {

constexpr int NEWEST = 24;  // of the versioned names that are tried

[[noreturn]] void refuse(const std::string &problem) {
    throw Failure{MSL_FAILURE_COMPILER,
                  problem +
                      ": kernels that are not shipped with the library need clang 19 or newer. "
                      "Install it (Debian, Ubuntu: apt install clang-19 lld-19; Fedora: dnf "
                      "install clang lld; Arch: pacman -S clang lld) or set FLASHMETAL_CLANG to "
                      "the path of a clang++"};
}

bool is_program(const std::string &path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           access(path.c_str(), X_OK) == 0;
}

// Nothing when it is not on PATH.
std::string on_path(const std::string &name) {
    if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
    const char *variable = std::getenv("PATH");
    const std::string path = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
    for (size_t start = 0; start <= path.size();) {
        const size_t end = std::min(path.find(':', start), path.size());
        const std::string file = path.substr(start, end - start) + "/" + name;
        if (end > start && is_program(file)) return file;
        start = end + 1;
    }
    return "";
}

std::string answer(const std::string &compiler, const std::string &question) {
    const std::string text = run_program({compiler, question}, "").output;
    return text.substr(0, text.find('\n'));
}

}  // namespace

// "Debian clang version 19.1.7 (...)": 19.
int Toolchain::major() const {
    static const std::string mark = "clang version ";
    const size_t at = version.find(mark);
    return at == std::string::npos ? 0 : std::atoi(version.c_str() + at + mark.size());
}

std::string find_compiler() {
    const char *named = std::getenv("FLASHMETAL_CLANG");
    if (named && *named) {
        const std::string path = on_path(named);
        if (path.empty()) refuse("FLASHMETAL_CLANG names no program: '" + std::string(named) + "'");
        return path;
    }
    for (int version = NEWEST; version >= Toolchain::OLDEST; version--) {
        const std::string path = on_path("clang++-" + std::to_string(version));
        if (!path.empty()) return path;
    }
    const std::string path = on_path("clang++");
    if (path.empty()) refuse("no clang++ found");
    return path;
}

Toolchain ask_compiler(const std::string &compiler) {
    Toolchain toolchain;
    toolchain.compiler = compiler;
    toolchain.version = answer(compiler, "--version");
    const int major = toolchain.major();
    if (major == 0) refuse(compiler + " is no clang");
    if (major < Toolchain::OLDEST) refuse(compiler + " is clang " + std::to_string(major));
    for (const char *name : {"ld.lld", "ld"}) {
        toolchain.linker = on_path(answer(compiler, std::string("-print-prog-name=") + name));
        toolchain.lld = std::string(name) == "ld.lld";
        if (!toolchain.linker.empty()) return toolchain;
    }
    refuse(compiler + " finds no linker");
}

}  // namespace msl
