#include "function_constants.h"

#include "attributes.h"

namespace msl {
namespace {

// constant bool flag [[function_constant(3)]];
// constexpr bool flag = __msl::function_constant<(3)>(); constexpr bool __msl_defined_flag = ...;
void define(Tokens &tokens, const Declaration &declaration, size_t open, size_t close,
            const std::string &index) {
    const std::string name(tokens[open - 1]);
    tokens.blank(open, close);
    for (size_t k = declaration.first; k < open; k++) {
        if (tokens[k] == "constant") tokens.replace(k, "constexpr");
    }
    const std::string value = "__msl::function_constant<(" + index + ")>";
    tokens.replace(declaration.last, " = " + value + "(); constexpr bool __msl_defined_" + name +
                                         " = " + value + "::defined;");
}

}  // namespace

void define_function_constants(Tokens &tokens, const std::vector<Declaration> &declarations) {
    for (const Declaration &declaration : declarations) {
        if (declaration.body <= declaration.last) continue;
        for (size_t k = declaration.first; k < declaration.last; k++) {
            if (tokens[k] == "(") k = tokens.closing(k);
            if (k == declaration.first || !tokens.opens_attributes(k)) continue;
            Attributes attributes;
            const size_t close = read_attributes(tokens, k, attributes);
            const Attribute *constant = find_attribute(attributes, "function_constant");
            if (constant) define(tokens, declaration, k, close, constant->argument);
            k = close;
        }
    }
}

std::string function_constant_values(const msl_request &request) {
    std::string text;
    for (size_t i = 0; i < request.constant_count; i++) {
        const msl_constant &constant = request.constants[i];
        text += "template <> struct __msl::constant_value<" + std::to_string(constant.index) +
                "> { static constexpr bool defined = true; template <class T> static constexpr T "
                "get() { return T(" +
                constant.text + "); } };\n";
    }
    return text;
}

std::string describe_function_constants(const msl_request &request) {
    std::string text;
    for (size_t i = 0; i < request.constant_count; i++) {
        const msl_constant &constant = request.constants[i];
        text += (i ? "," : "") + std::to_string(constant.index) + "=" + constant.text;
    }
    return text;
}

}  // namespace msl
