#include "rewrite.h"

#include "function_constants.h"
#include "literals.h"
#include "swizzles.h"
#include "threadgroup_memory.h"

#include <algorithm>

namespace msl {
namespace {

// Blanks `#pragma unroll` in all its forms: the preprocessor leaves macros in it unexpanded, and
// they no longer exist when the second stage reads them.
void strip_unroll_pragmas(std::string &text) {
    for (size_t at = 0; (at = text.find("#pragma", at)) != std::string::npos;) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = std::string_view(text).substr(at, end - at);
        if (line.find("unroll") != std::string_view::npos)
            text.replace(at, end - at, end - at, ' ');
        at = end;
    }
}

}  // namespace

Rewritten rewrite(std::string preprocessed) {
    strip_unroll_pragmas(preprocessed);
    Tokens tokens(std::move(preprocessed));
    const std::vector<Declaration> declarations = find_declarations(tokens);
    Rewritten result;
    result.kernels = take_kernels(tokens, declarations);
    define_function_constants(tokens, declarations);
    rewrite_threadgroup_memory(tokens);
    rewrite_literals(tokens);
    result.swizzles = declare_swizzles(tokens);
    result.text = tokens.text();
    return result;
}

}  // namespace msl
