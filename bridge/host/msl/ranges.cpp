#include "ranges.h"

#include <algorithm>

namespace msl {

std::vector<Range> split_list(const Tokens &tokens, size_t open) {
    return split_list(tokens, open, std::min(tokens.closing(open), tokens.size()));
}

std::vector<Range> split_list(const Tokens &tokens, size_t open, size_t close) {
    std::vector<Range> parts;
    size_t first = open + 1;
    for (size_t k = first; k <= close; k++) {
        const std::string_view token = tokens[k];
        if (token == "<" && tokens.is(k - 1, TokenKind::Identifier)) {
            // Less than, where nothing closes it in time.
            const size_t end = tokens.closing_angle(k);
            if (end < close) k = end;
        } else if ((token == "(" || token == "[" || token == "{") && k < close) {
            k = tokens.closing(k);
        } else if (token == "," || k == close) {
            if (k > first) parts.push_back({first, k - 1});
            first = k + 1;
        }
    }
    return parts;
}

}  // namespace msl
