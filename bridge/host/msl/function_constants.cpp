#include "function_constants.h"

#include "attributes.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <regex>

namespace msl {
namespace {

// constant bool flag [[function_constant(3)]]; becomes a name for the value, which the linker may
// miss: static constant bool &flag = __msl::function_constant<bool, (3), struct
// __msl_named_flag>::value;
void define(Tokens &tokens, size_t first, size_t open, size_t close,
            const FunctionConstant &constant) {
    tokens.insert_before(first, "static ");
    const size_t end = tokens[close + 1] == ";" ? close + 1 : close;
    tokens.blank(open, end - 1);
    tokens.replace(open - 1, "&" + constant.name);
    const std::string &name = constant.name;
    const std::string type =
                          "__msl::remove_cv_t<__msl::remove_reference_t<decltype(" + name + ")>>",
                      value = "__msl::function_constant<" + type + ", (" + constant.index +
                              "), struct __msl_named_" + name + ">::";
    tokens.replace(end, " = " + value + "value; constexpr bool __msl_defined_" + name + " = " +
                            value + "defined; constexpr int __msl_declared_" + name + " = " +
                            value + "declared;");
}

}  // namespace

std::vector<FunctionConstant>
define_function_constants(Tokens &tokens, const std::vector<Declaration> &declarations) {
    std::vector<FunctionConstant> constants;
    for (const Declaration &declaration : declarations) {
        if (declaration.body <= declaration.last) continue;
        for (size_t k = declaration.first; k < declaration.last; k++) {
            if (tokens[k] == "(") k = tokens.closing(k);
            if (k == declaration.first || !tokens.opens_attributes(k)) continue;
            Attributes attributes;
            const size_t close = read_attributes(tokens, k, attributes);
            const Attribute *constant = find_attribute(attributes, "function_constant");
            if (constant) {
                constants.push_back({std::string(tokens[k - 1]), constant->argument});
                define(tokens, declaration.first, k, close, constants.back());
            }
            k = close;
        }
    }
    return constants;
}

std::vector<DeclaredConstant> declared_constants(const std::string &syntax_tree) {
    // VarDecl 0x1234 <...> col:5 __msl_declared_flag 'const int' constexpr cinit
    // |-value: Int 393
    static const std::regex pattern(
        R"(VarDecl [^\n]* __msl_declared_(\w+) 'const int'[^\n]*\n[^\n]*value: Int (\d+))");
    static const char *const scalars[] = {"",    "bool", "char", "uchar", "short", "ushort",
                                          "int", "uint", "long", "ulong", "half",  "float"};
    std::vector<DeclaredConstant> declared;
    const std::sregex_iterator end;
    for (std::sregex_iterator at(syntax_tree.begin(), syntax_tree.end(), pattern); at != end;
         at++) {
        const unsigned long packed = std::stoul((*at)[2]);
        const unsigned long width = packed % 8;
        const std::string scalar = scalars[packed % 128 / 8];
        declared.push_back({(*at)[1], uint32_t(packed / 128),
                            width > 1 ? scalar + std::to_string(width) : scalar});
    }
    return declared;
}

std::vector<FunctionConstant> constants_in_error(const std::vector<FunctionConstant> &constants,
                                                 const std::string &error) {
    const std::vector<Token> words = lex(error);
    std::vector<FunctionConstant> found;
    for (const FunctionConstant &constant : constants) {
        const auto is_it = [&](const Token &word) { return word.text == constant.name; };
        if (std::any_of(words.begin(), words.end(), is_it)) found.push_back(constant);
    }
    return found;
}

std::vector<FunctionConstant>
constants_without_value(const std::vector<FunctionConstant> &constants,
                        const std::vector<DeclaredConstant> &declared, const msl_request &request) {
    std::vector<FunctionConstant> found;
    for (const FunctionConstant &constant : constants) {
        const auto entry =
            std::find_if(declared.begin(), declared.end(), [&](const DeclaredConstant &candidate) {
                return candidate.name == constant.name;
            });
        if (entry == declared.end()) continue;
        const auto is_it = [&](const msl_constant &given) { return given.index == entry->index; };
        if (std::none_of(request.constants, request.constants + request.constant_count, is_it))
            found.push_back({constant.name, std::to_string(entry->index)});
    }
    return found;
}

std::vector<FunctionConstant> missing_constants(const ElfSymbols &object) {
    // __msl::function_constant<bool, 3, space::__msl_named_flag, false>::value
    static const std::regex pattern(R"(__msl::function_constant<.*, (\d+), .*__msl_named_(\w+), )");
    std::vector<FunctionConstant> found;
    for (const std::string &symbol : object.undefined()) {
        const std::unique_ptr<char, decltype(&std::free)> readable(
            abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr), std::free);
        std::cmatch match;
        if (readable && std::regex_search(readable.get(), match, pattern)) {
            found.push_back({match[2], match[1]});
        }
    }
    return found;
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
