#include "rewrite.h"

#include "attribute_names.h"
#include "intrinsics.h"
#include "literals.h"
#include "overloads.h"
#include "recursion.h"
#include "storage.h"
#include "swizzles.h"
#include "thread_values.h"
#include "threadgroup_memory.h"
#include "unsupported.h"

#include <algorithm>

namespace msl {
namespace {

// What stands for a pragma. `unroll` in all its forms goes: the preprocessor leaves macros in it
// unexpanded, and they no longer exist when the second stage reads them. Metal's own about
// exactness have a counterpart, which must open a block.
std::string replacement(std::string_view pragma, bool opens_block) {
    const auto names = [&](std::string_view word) {
        return pragma.find(word) != std::string_view::npos;
    };
    if (names("METAL fp") && opens_block) {
        if (names("safe")) return "#pragma clang fp contract(off) reassociate(off) reciprocal(off)";
        if (names("contract(off)")) return "#pragma clang fp contract(off)";
    }
    return names("unroll") || names("METAL") ? std::string(pragma.size(), ' ')
                                             : std::string(pragma);
}

void rewrite_pragmas(std::string &text) {
    for (size_t at = 0; (at = text.find("#pragma", at)) != std::string::npos;) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const size_t before = at == 0 ? std::string::npos : text.find_last_not_of(" \t\n", at - 1);
        const bool opens_block = before != std::string::npos && text[before] == '{';
        const std::string pragma =
            replacement(std::string_view(text).substr(at, end - at), opens_block);
        text.replace(at, end - at, pragma);
        at += pragma.size();
    }
}

// What clang does not see, as more follows: a declaration that only begins.
std::optional<TextError> find_open_end(const Tokens &tokens) {
    if (tokens.size() == 0) return {};
    const size_t last = tokens.size() - 1;
    if (tokens[last] == ";" || tokens[last] == "}") return {};
    return TextError{tokens.position(last), "the text ends within a declaration"};
}

}  // namespace

Rewritten rewrite(std::string preprocessed, const char *only) {
    rewrite_pragmas(preprocessed);
    Tokens tokens(preprocessed);
    refuse_unsupported(tokens);
    if (const std::optional<TextError> error = find_misspelt_attribute(tokens)) throw *error;
    const std::vector<Declaration> declarations =
        define_thread_values(tokens, find_declarations(tokens));
    Rewritten result;
    result.misplaced = find_unbalanced_attributes(tokens);
    if (!result.misplaced) result.misplaced = find_mutable_variable(tokens, declarations);
    if (!result.misplaced) result.misplaced = find_open_end(tokens);
    result.may_recurse = may_recurse(tokens, declarations);
    result.preprocessed = std::move(preprocessed);
    result.kernels = take_kernels(tokens, declarations);
    if (only) remove_other_kernels(tokens, result.kernels, only);
    result.constants = define_function_constants(tokens, declarations);
    rewrite_literals(tokens);
    rewrite_threadgroup_memory(tokens);
    result.spaced = tokens.text();
    result.uses_intrinsics = rewrite_intrinsics(tokens);
    collapse_overloads(tokens);
    result.swizzles = declare_swizzles(tokens);
    result.text = tokens.text();
    return result;
}

}  // namespace msl
