#include "compile_cache.h"

#include "cache.h"
#include "compiler.h"
#include "cpu_level.h"
#include "failure.h"
#include "header_digest.h"
#include "known_toolchain.h"
#include "paths.h"

#include <map>

namespace msl {
namespace {

std::atomic<uint64_t> count{0};

// Everything that the bytes of the library depend on.
Sha256::Digest key_of(const Compilation &compilation, const std::string &kind) {
    const msl_request &request = compilation.request;
    const Toolchain &toolchain = compilation.toolchain;
    Sha256 hash;
    const auto number = [&](uint64_t value) { hash.add_field(std::to_string(value)); };
    hash.add_field(kind).add_field(MSL_HEADER_DIGEST);
    number(MSL_ABI_VERSION);
    hash.add_field(toolchain.compiler).add_field(toolchain.version).add_field(toolchain.linker);
    hash.add_field(compilation.cpu_level);
    number(request.language_version);
    number(request.math_mode);
    number(request.tensor_api);
    number(request.checks);
    number(request.zero_constants);
    // Hosts keep macros in dictionaries, whose order is accidental.
    std::map<std::string, std::string> macros;
    for (size_t i = 0; i < request.macro_count; i++) {
        const msl_macro &macro = request.macros[i];
        macros[macro.name] = macro.value ? macro.value : "";
    }
    number(macros.size());
    for (const auto &[name, value] : macros)
        hash.add_field(name).add_field(value);
    number(request.constant_count);
    for (size_t i = 0; i < request.constant_count; i++) {
        number(request.constants[i].index);
        hash.add_field(request.constants[i].text);
    }
    number(request.function != nullptr);
    hash.add_field(request.function ? request.function : "");
    hash.add_field(std::string_view(request.source, request.length));
    return hash.finish();
}

// Null when what the cache holds cannot be loaded, whyever.
msl_library *try_load(const std::string &bytes) {
    try {
        return new msl_library(bytes);
    } catch (const Failure &) {
        return nullptr;
    }
}

// What `make` gives, a library's bytes or the names of kernels, may come from the cache.
template <class F>
msl_library *find_or_make(const msl_request &request, const std::string &kind, F make) {
    const Cache cache(cache_folder());
    const Toolchain toolchain = known_toolchain(cache);
    const Compilation compilation{request, toolchain, cpu_levels()[0], header_folder()};
    const Sha256::Digest key = key_of(compilation, kind);
    std::string content;
    if (cache.find(key, content)) {
        if (msl_library *library = try_load(content)) return library;
    }
    count++;
    content = make(compilation);
    msl_library *library = new msl_library(content);
    cache.store(key, content);
    return library;
}

}  // namespace

msl_library *find_or_compile(const msl_request &request) {
    return find_or_make(request, "kernels", compile);
}

msl_library *find_or_check(const msl_request &request) {
    return find_or_make(request, "text", check);
}

uint64_t compilations() {
    return count;
}

}  // namespace msl
