#include "known_toolchain.h"

#include <map>
#include <mutex>
#include <sys/stat.h>

namespace msl {
namespace {

// Identifies the file; a change of it makes another key.
Sha256::Digest key_of(const std::string &compiler) {
    struct stat status = {};
    stat(compiler.c_str(), &status);
    Sha256 hash;
    hash.add_field("compiler").add_field(compiler);
    for (const int64_t value : {int64_t(status.st_mtim.tv_sec), int64_t(status.st_mtim.tv_nsec),
                                int64_t(status.st_size), int64_t(status.st_ino)}) {
        hash.add_field(std::to_string(value));
    }
    return hash.finish();
}

std::string to_text(const Toolchain &toolchain) {
    return toolchain.version + "\n" + toolchain.linker + "\n" + (toolchain.lld ? "lld" : "ld");
}

bool from_text(const std::string &text, Toolchain &toolchain) {
    const size_t first = text.find('\n');
    const size_t second = first == std::string::npos ? first : text.find('\n', first + 1);
    if (second == std::string::npos) return false;
    toolchain.version = text.substr(0, first);
    toolchain.linker = text.substr(first + 1, second - first - 1);
    toolchain.lld = text.substr(second + 1) == "lld";
    return access(toolchain.linker.c_str(), X_OK) == 0;
}

Toolchain find_or_ask(const Cache &cache, const Sha256::Digest &key, const std::string &compiler) {
    Toolchain toolchain;
    std::string text;
    toolchain.compiler = compiler;
    if (cache.find(key, text) && from_text(text, toolchain)) return toolchain;
    toolchain = ask_compiler(compiler);
    cache.store(key, to_text(toolchain));
    return toolchain;
}

}  // namespace

Toolchain known_toolchain(const Cache &cache) {
    static std::mutex lock;
    static std::map<Sha256::Digest, Toolchain> known;
    const std::string compiler = find_compiler();
    const Sha256::Digest key = key_of(compiler);
    const std::lock_guard<std::mutex> guard(lock);
    auto found = known.find(key);
    if (found == known.end()) {
        found = known.emplace(key, find_or_ask(cache, key, compiler)).first;
    }
    return found->second;
}

}  // namespace msl
