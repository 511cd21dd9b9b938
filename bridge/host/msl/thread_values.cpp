#include "thread_values.h"

#include <algorithm>
#include <set>

namespace msl {
namespace {

// Attributes whose value is three numbers, as an expression of the thread.
constexpr std::pair<std::string_view, std::string_view> TRIPLES[] = {
    {"thread_position_in_grid", "self->thread_in_grid"},
    {"thread_position_in_threadgroup", "self->thread_in_threadgroup"},
    {"threadgroup_position_in_grid", "self->threadgroup_in_grid"},
    {"threads_per_threadgroup", "self->threads_per_threadgroup"},
    {"dispatch_threads_per_threadgroup", "self->dispatch_threads_per_threadgroup"},
    {"threadgroups_per_grid", "self->threadgroups_per_grid"},
    {"threads_per_grid", "self->threads_per_grid"},
    // No grid here begins elsewhere or reads what a stage before it left.
    {"grid_origin", "__msl::no_origin"},
    {"grid_size", "self->threads_per_grid"},
};

// Attributes whose value is one number, as an expression of the thread.
constexpr std::pair<std::string_view, std::string_view> NUMBERS[] = {
    {"thread_index_in_threadgroup", "self->index"},
    {"thread_index_in_simdgroup", "self->lane"},
    {"simdgroup_index_in_threadgroup", "self->simdgroup"},
    {"simdgroups_per_threadgroup", "self->simdgroups"},
    {"dispatch_simdgroups_per_threadgroup",
     "__msl::groups_of(MSL_LANES, self->dispatch_threads_per_threadgroup)"},
    {"threads_per_simdgroup", "MSL_LANES"},
    {"thread_execution_width", "MSL_LANES"},
    {"thread_index_in_quadgroup", "self->lane % 4"},
    {"quadgroup_index_in_threadgroup", "self->index / 4"},
    {"quadgroups_per_threadgroup", "__msl::groups_of(4, self->threads_per_threadgroup)"},
    {"dispatch_quadgroups_per_threadgroup",
     "__msl::groups_of(4, self->dispatch_threads_per_threadgroup)"},
};

// The name of the variable, which stands before its attributes; 0 where the declaration is another.
size_t named_value(const Tokens &tokens, const Declaration &declaration, Attributes &attributes) {
    if (declaration.body <= declaration.last) return 0;
    for (size_t k = declaration.first + 1; k < declaration.last; k++) {
        if (tokens[k] == "(" || tokens[k] == "=") return 0;
        if (!tokens.opens_attributes(k)) continue;
        const size_t close = read_attributes(tokens, k, attributes);
        const bool is_last = close + 1 == declaration.last;
        return is_last && tokens.is(k - 1, TokenKind::Identifier) ? k - 1 : 0;
    }
    return 0;
}

bool is_statement(std::string_view word) {
    return word == "return" || word == "else" || word == "case" || word == "do";
}

// `uint name`, be it a parameter's or a local variable's.
bool declares(const Tokens &tokens, size_t k) {
    return k > 0 && tokens.is(k - 1, TokenKind::Identifier) && !is_statement(tokens[k - 1]);
}

bool is_member(const Tokens &tokens, size_t k) {
    return k > 0 && (tokens[k - 1] == "." || tokens[k - 1] == "->");
}

// The names that the declaration gives a meaning of its own, which hides the one outside.
std::set<std::string_view> own_names(const Tokens &tokens, const Declaration &declaration) {
    std::set<std::string_view> own;
    for (size_t k = declaration.first; k <= declaration.last; k++) {
        if (declares(tokens, k)) own.insert(tokens[k]);
    }
    return own;
}

void call_values(Tokens &tokens, const Declaration &declaration,
                 const std::vector<std::string_view> &names) {
    const std::set<std::string_view> own = own_names(tokens, declaration);
    for (size_t k = declaration.first; k <= declaration.last; k++) {
        if (tokens.opens_attributes(k)) {
            k = tokens.closing(k);
        } else if (!is_member(tokens, k) && !own.count(tokens[k]) &&
                   std::find(names.begin(), names.end(), tokens[k]) != names.end()) {
            tokens.replace(k, std::string(tokens[k]) + "()");
        }
    }
}

// Behind `inline`, as a text need not use all that it declares.
void define(Tokens &tokens, const Declaration &declaration, size_t name, const std::string &value) {
    tokens.insert_before(declaration.first, "inline ");
    tokens.blank(name + 1, declaration.last);
    tokens.replace(name, std::string(tokens[name]) +
                             "() { [[maybe_unused]] const msl_thread *self "
                             "= __msl::running_thread(); return " +
                             value + "; }");
}

}  // namespace

std::vector<std::string_view> thread_attributes() {
    std::vector<std::string_view> names;
    for (const auto &[name, value] : TRIPLES)
        names.push_back(name);
    for (const auto &[name, value] : NUMBERS)
        names.push_back(name);
    return names;
}

std::string thread_value(const Attributes &attributes, const std::string &type) {
    for (const auto &[name, value] : TRIPLES) {
        if (find_attribute(attributes, name))
            return "__msl::triple<" + type + ">(" + std::string(value) + ")";
    }
    for (const auto &[name, value] : NUMBERS) {
        if (find_attribute(attributes, name)) return "(" + type + ")(" + std::string(value) + ")";
    }
    return "";
}

std::vector<Declaration> define_thread_values(Tokens &tokens,
                                              const std::vector<Declaration> &declarations) {
    std::vector<std::string_view> names;
    std::vector<Declaration> left;
    for (const Declaration &declaration : declarations) {
        Attributes attributes;
        const size_t name = named_value(tokens, declaration, attributes);
        const std::string type =
            name == 0 ? "" : std::string(tokens.between(declaration.first, name - 1));
        const std::string value =
            name == 0 ? "" : thread_value(attributes, "__msl::remove_cv_t<" + type + ">");
        if (value.empty()) {
            if (!names.empty()) call_values(tokens, declaration, names);
            left.push_back(declaration);
        } else {
            names.push_back(tokens[name]);
            define(tokens, declaration, name, value);
        }
    }
    return left;
}

}  // namespace msl
