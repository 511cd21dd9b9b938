#include "intrinsics.h"

#include <set>

namespace msl {
namespace {

struct Intrinsic {
    std::string_view name, symbol;
};

constexpr Intrinsic INTRINSICS[] = {
    {"\"air.simdgroup_async_copy_1d.", "\"__msl_async_copy_1d\""},
    {"\"air.simdgroup_async_copy_2d.", "\"__msl_async_copy_2d\""},
    {"\"air.wait_simdgroup_events", "\"__msl_wait_for_copies\""},
};

const Intrinsic *find(const Tokens &tokens, size_t k) {
    const std::string_view word = tokens[k];
    if (word != "__asm" && word != "__asm__" && word != "asm") return nullptr;
    if (tokens[k + 1] != "(" || tokens[k + 3] != ")") return nullptr;
    for (const Intrinsic &intrinsic : INTRINSICS) {
        if (tokens[k + 2].substr(0, intrinsic.name.size()) == intrinsic.name) return &intrinsic;
    }
    return nullptr;
}

}  // namespace

bool names_intrinsic(const Tokens &tokens, size_t k) {
    return find(tokens, k) != nullptr;
}

bool rewrite_intrinsics(Tokens &tokens) {
    std::set<std::string_view> seen;
    for (size_t k = 0; k < tokens.size(); k++) {
        const Intrinsic *intrinsic = find(tokens, k);
        if (!intrinsic) continue;
        if (seen.insert(intrinsic->symbol).second) {
            // The library's functions have no lines, and clang wants both sides of a name alike.
            tokens.replace(k + 2, std::string(intrinsic->symbol));
            tokens.replace(k + 3, ") __attribute__((nodebug))");
        } else {
            tokens.blank(k, k + 3);
        }
    }
    return !seen.empty();
}

}  // namespace msl
