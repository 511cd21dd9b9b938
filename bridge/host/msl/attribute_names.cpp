#include "attribute_names.h"

#include "attributes.h"
#include "glue.h"

#include <algorithm>

namespace msl {
namespace {

constexpr size_t NEAR = 2;  // mistakes

std::vector<std::string_view> known_names() {
    std::vector<std::string_view> names = argument_attributes();
    names.insert(names.end(), {"kernel", "host_name", "max_total_threads_per_threadgroup"});
    return names;
}

// Letters that are missing, wrong, too many or swapped with their neighbour.
size_t mistakes(std::string_view a, std::string_view b) {
    std::vector<std::vector<size_t>> count(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); i++) {
        for (size_t j = 0; j <= b.size(); j++) {
            if (i == 0 || j == 0) {
                count[i][j] = i + j;
                continue;
            }
            const size_t wrong = a[i - 1] != b[j - 1];
            count[i][j] = std::min({count[i - 1][j] + 1, count[i][j - 1] + 1,  //
                                    count[i - 1][j - 1] + wrong});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                count[i][j] = std::min(count[i][j], count[i - 2][j - 2] + 1);
        }
    }
    return count[a.size()][b.size()];
}

// The known name that is meant; empty where `name` is one, or none is near.
std::string_view meant(std::string_view name) {
    static const std::vector<std::string_view> known = known_names();
    std::string_view nearest;
    size_t least = NEAR + 1;
    for (const std::string_view candidate : known) {
        if (candidate.size() > name.size() + NEAR || name.size() > candidate.size() + NEAR)
            continue;
        const size_t count = mistakes(name, candidate);
        if (count == 0) return {};
        if (count < least) {
            least = count;
            nearest = candidate;
        }
    }
    return nearest;
}

}  // namespace

std::optional<TextError> find_misspelt_attribute(const Tokens &tokens) {
    for (size_t k = 0; k < tokens.size(); k++) {
        if (!tokens.opens_attributes(k)) continue;
        Attributes attributes;
        k = read_attributes(tokens, k, attributes);
        for (const Attribute &attribute : attributes) {
            const size_t name = attribute.token;
            // Those of other compilers, such as clang::always_inline.
            if (tokens[name - 1] == "::" || tokens[name + 1] == "::") continue;
            const std::string_view other = meant(attribute.name);
            if (other.empty()) continue;
            return TextError{tokens.position(name), "unknown attribute '" + attribute.name +
                                                        "'; did you mean '" + std::string(other) +
                                                        "'?"};
        }
    }
    return {};
}

}  // namespace msl
