// Lists within brackets.
#pragma once
#include "tokens.h"

namespace msl {

struct Range {
    size_t first, last;  // tokens
};

// What stands between the commas of the brackets that open at k.
std::vector<Range> split_list(const Tokens &tokens, size_t open);
// Likewise of the angle brackets at `open` and `close`.
std::vector<Range> split_list(const Tokens &tokens, size_t open, size_t close);

}  // namespace msl
