#include "function_constants.h"

#include "attributes.h"
#include "ranges.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <regex>

namespace msl {
namespace {

// What follows the name: constant bool flag [[function_constant(3)]]; becomes another name of the
// value, which the linker may miss: static constant bool &flag =
// __msl::function_constant<bool, (3), struct __msl_named_flag>::value;
std::string definition(const FunctionConstant &constant) {
    const std::string &name = constant.name;
    const std::string type =
        "__msl::remove_cv_t<__msl::remove_reference_t<decltype(" + name + ")>>";
    const std::string value = "__msl::function_constant<" + type + ", (" + constant.index +
                              "), struct __msl_named_" + name + ">::";
    return " = " + value + "value; constexpr bool __msl_defined_" + name + " = " + value +
           "defined; constexpr int __msl_declared_" + name + " = " + value + "declared;";
}

// A declaration of constants, each with an attribute of its own or with one in front of them all.
class Definer {
  public:
    Definer(Tokens &tokens, std::vector<FunctionConstant> &constants)
        : tokens_(tokens), constants_(constants) {}

    void run(const Declaration &declaration) {
        first_ = declaration.first;
        while (tokens_.opens_attributes(first_)) {
            groups_.push_back({first_, read_attributes(tokens_, first_, leading_)});
            first_ = groups_.back().last + 1;
        }
        for (size_t k = first_; k <= declaration.last; k++) {
            const std::string_view token = tokens_[k];
            if (token == "=" || token == "{") return;
            if ((token == "," || token == ";") && !end_declarator(k)) return;
            if (token == "<") k = tokens_.closing_angle(k);
            if (token == "(") k = tokens_.closing(k);
            if (tokens_.is(k, TokenKind::Identifier)) name_ = k;
            if (tokens_.opens_attributes(k)) {
                groups_.push_back({k, read_attributes(tokens_, k, own_)});
                k = groups_.back().last;
            }
        }
    }

  private:
    // Whether what ends at k is one of such constants.
    bool end_declarator(size_t k) {
        const Attribute *own = find_attribute(own_, "function_constant");
        const Attribute *index = own ? own : find_attribute(leading_, "function_constant");
        if (!index || name_ <= first_) return false;
        const FunctionConstant constant = {std::string(tokens_[name_]), index->argument};
        if (specifiers_.empty()) {
            specifiers_ = "static " + std::string(tokens_.between(first_, name_ - 1)) + " ";
            tokens_.insert_before(first_, "static ");
            tokens_.replace(name_, "&" + constant.name);
        } else {
            tokens_.replace(name_, specifiers_ + "&" + constant.name);
        }
        for (const Range &group : groups_)
            tokens_.blank(group.first, group.last);
        tokens_.replace(k, definition(constant));
        constants_.push_back(constant);
        groups_.clear();
        own_.clear();
        return true;
    }

    Tokens &tokens_;
    std::vector<FunctionConstant> &constants_;
    size_t first_ = 0, name_ = 0;
    Attributes leading_, own_;
    std::vector<Range> groups_;
    std::string specifiers_;  // of the declarators behind the first
};

}  // namespace

std::vector<FunctionConstant>
define_function_constants(Tokens &tokens, const std::vector<Declaration> &declarations) {
    std::vector<FunctionConstant> constants;
    for (const Declaration &declaration : declarations) {
        if (declaration.body > declaration.last) Definer(tokens, constants).run(declaration);
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
