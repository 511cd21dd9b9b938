#include "unsupported.h"

#include "intrinsics.h"
#include "text_error.h"

#include <algorithm>

namespace msl {
namespace {

struct Unsupported {
    std::string_view word, what;
};

// Class templates, that is, behind them stands `<`.
constexpr Unsupported TEMPLATES[] = {
    {"texture1d", "textures"},
    {"texture1d_array", "textures"},
    {"texture2d", "textures"},
    {"texture2d_array", "textures"},
    {"texture2d_ms", "textures"},
    {"texture2d_ms_array", "textures"},
    {"texture3d", "textures"},
    {"texturecube", "textures"},
    {"texturecube_array", "textures"},
    {"texture_buffer", "textures"},
    {"depth2d", "textures"},
    {"depth2d_array", "textures"},
    {"depth2d_ms", "textures"},
    {"depth2d_ms_array", "textures"},
    {"depthcube", "textures"},
    {"depthcube_array", "textures"},
    {"imageblock", "imageblocks"},
    {"intersector", "ray tracing"},
    {"intersection_query", "ray tracing"},
    {"acceleration_structure", "ray tracing"},
    {"intersection_function_table", "ray tracing"},
    {"visible_function_table", "function tables"},
    {"mesh", "render stages"},
    {"patch_control_point", "render stages"},
    {"interpolant", "render stages"},
};

// Types, that is, behind them stands a name.
constexpr Unsupported TYPES[] = {
    {"sampler", "samplers"},
    {"instance_acceleration_structure", "ray tracing"},
    {"primitive_acceleration_structure", "ray tracing"},
    {"command_buffer", "indirect command buffers"},
    {"render_command", "indirect command buffers"},
    {"compute_command", "indirect command buffers"},
    {"compute_pipeline_state", "indirect command buffers"},
    {"render_pipeline_state", "indirect command buffers"},
    {"mesh_grid_properties", "render stages"},
};

// Namespaces; a text may use one, and no name of it.
constexpr Unsupported NAMESPACES[] = {{"raytracing", "ray tracing"}};

// Qualifiers and attributes of functions.
constexpr Unsupported STAGES[] = {
    {"vertex", "render stages"}, {"fragment", "render stages"},   {"object", "render stages"},
    {"mesh", "render stages"},   {"intersection", "ray tracing"}, {"visible", "function tables"},
};

// Attributes of parameters.
constexpr Unsupported ATTRIBUTES[] = {
    {"texture", "textures"},    {"sampler", "samplers"},        {"stage_in", "render stages"},
    {"id", "argument buffers"}, {"vertex_id", "render stages"}, {"payload", "render stages"},
};

// Words of C++ that Metal's compiler refuses, and clang's do not.
constexpr std::string_view FOREIGN[] = {
    "double",       "new",    "delete", "try",          "catch", "throw", "virtual",
    "dynamic_cast", "typeid", "goto",   "thread_local", "asm",   "__asm", "__asm__",
};

template <size_t N> const Unsupported *find(const Unsupported (&list)[N], std::string_view word) {
    const auto found =
        std::find_if(list, list + N, [&](const Unsupported &entry) { return entry.word == word; });
    return found == list + N ? nullptr : found;
}

bool starts_declaration(const Tokens &tokens, size_t k) {
    return k == 0 || tokens[k - 1] == ";" || tokens[k - 1] == "}" || tokens[k - 1] == "{" ||
           tokens[k - 1] == ">";
}

const Unsupported *unsupported_at(const Tokens &tokens, size_t k) {
    const std::string_view word = tokens[k], next = tokens[k + 1];
    const bool member = k > 0 && (tokens[k - 1] == "." || tokens[k - 1] == "->");
    if (member) return nullptr;
    if (next == "<") return find(TEMPLATES, word);
    if (next == "::")
        return tokens.is(k + 2, TokenKind::Identifier) ? find(NAMESPACES, word) : nullptr;
    if (!tokens.is(k + 1, TokenKind::Identifier)) return nullptr;
    if (const Unsupported *found = find(TYPES, word)) return found;
    return starts_declaration(tokens, k) ? find(STAGES, word) : nullptr;
}

[[noreturn]] void refuse(const Tokens &tokens, size_t k, const Unsupported &found) {
    throw TextError{tokens.position(k),
                    "'" + std::string(found.word) + "': this device does not support " +
                        std::string(found.what),
                    MSL_FAILURE_UNSUPPORTED};
}

[[noreturn]] void refuse_foreign(const Tokens &tokens, size_t k) {
    throw TextError{tokens.position(k),
                    "'" + std::string(tokens[k]) + "' is not part of the Metal Shading Language"};
}

// `int (*name)(int)` or `int (*name[2])(int)` at k, where a variable is declared: a parameter may
// be one, which inlining makes a function again, and a type may have a name.
bool declares_function_pointer(const Tokens &tokens, size_t k) {
    static constexpr std::string_view others[] = {"return", "typedef", "using", "sizeof",
                                                  "decltype"};
    if (k == 0 || tokens[k] != "(" || tokens[k + 1] != "*" ||
        !tokens.is(k + 2, TokenKind::Identifier)) {
        return false;
    }
    size_t close = k + 3;
    while (tokens[close] == "[")
        close = tokens.closing(close) + 1;
    if (tokens[close] != ")" || tokens[close + 1] != "(") return false;
    if (!tokens.is(k - 1, TokenKind::Identifier)) return false;
    size_t closed = 0;
    for (size_t q = k; q > 0 && tokens[q] != ";" && tokens[q] != "{" && tokens[q] != "}"; q--) {
        const std::string_view before = tokens[q - 1];
        if (before == ")") closed++;
        if (before == "(" && closed-- == 0) return false;
        if (before == "<" || before == "=" ||
            std::find(std::begin(others), std::end(others), before) != std::end(others)) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool is_foreign(std::string_view word) {
    return std::find(std::begin(FOREIGN), std::end(FOREIGN), word) != std::end(FOREIGN);
}

void refuse_unsupported(const Tokens &tokens) {
    for (size_t k = 0; k < tokens.size(); k++) {
        if (tokens.is(k, TokenKind::Identifier)) {
            if (const Unsupported *found = unsupported_at(tokens, k)) refuse(tokens, k, *found);
            if (is_foreign(tokens[k]) && !names_intrinsic(tokens, k)) refuse_foreign(tokens, k);
        } else if (declares_function_pointer(tokens, k)) {
            throw TextError{tokens.position(k + 2),
                            "pointers to functions, such as '" + std::string(tokens[k + 2]) +
                                "', are not part of the Metal Shading Language"};
        } else if (tokens.opens_attributes(k)) {
            const size_t last = tokens.closing(k);
            for (size_t q = k + 2; q < last; q++) {
                if (tokens[q] == "(") q = tokens.closing(q);
                const Unsupported *found = find(ATTRIBUTES, tokens[q]);
                if (!found) found = find(STAGES, tokens[q]);
                if (found) refuse(tokens, q, *found);
            }
            k = last;
        }
    }
}

}  // namespace msl
