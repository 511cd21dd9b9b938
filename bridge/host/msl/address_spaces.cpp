#include "address_spaces.h"

#include "declarations.h"
#include "overloads.h"
#include "signatures.h"
#include "text_error.h"

#include <map>

namespace msl {
namespace {

// The address space that each name points to, or lies in; empty where that is not known or not the
// same everywhere.
using Spaces = std::map<std::string_view, std::string_view>;

void note(Spaces &spaces, std::string_view name, std::string_view space) {
    const auto [known, is_new] = spaces.emplace(name, space);
    if (!is_new && known->second != space) known->second = {};
}

std::string_view space_in(const Spaces &spaces, std::string_view name) {
    const auto known = spaces.find(name);
    return known == spaces.end() ? std::string_view() : known->second;
}

// A declarator such as `device const T *x`, from the address space at k.
struct Declarator {
    std::string_view space, name;
    bool points = false;  // or is an array, which decays
    bool refers = false;
    size_t end = 0;  // behind the name; 0 where this declares nothing
};

Declarator read_declarator(const Tokens &tokens, size_t k) {
    Declarator found{tokens[k], "", false, false, 0};
    for (k++; k < tokens.size(); k++) {
        const std::string_view token = tokens[k];
        if (token == "<") {
            k = tokens.closing_angle(k);
        } else if (token == "*" && !found.points && !found.refers) {
            found.points = true;
        } else if (token == "&" && !found.points && !found.refers) {
            found.refers = true;
        } else if (tokens.is(k, TokenKind::Identifier) && !is_address_space(token)) {
            const std::string_view next = tokens[k + 1];
            const bool last =
                next == "=" || next == ";" || next == "," || next == ")" || next == "[";
            if (!last) continue;
            found.name = token;
            const bool array = next == "[" && !tokens.opens_attributes(k + 1);
            if (array && found.space == "threadgroup") found.points = true;
            // An object without more is an argument's type, except in threadgroup memory.
            if (found.points || found.refers || found.space == "threadgroup") found.end = k + 1;
            return found;
        } else if (token != "::") {
            return found;
        }
    }
    return found;
}

// The pointers that classes have as members.
Spaces read_members(const Tokens &tokens) {
    Spaces members;
    for (size_t k = 0; k < tokens.size(); k++) {
        if (tokens[k] != "struct" && tokens[k] != "class") continue;
        while (k < tokens.size() && tokens[k] != "{" && tokens[k] != ";" && tokens[k] != ")" &&
               tokens[k] != ">")
            k++;
        if (tokens[k] != "{") continue;
        const size_t close = tokens.closing(k);
        for (size_t q = k + 1; q < close; q++) {
            if (tokens[q] == "(" || (tokens[q] == "{" && q > k)) q = tokens.closing(q);
            if (!is_address_space(tokens[q])) continue;
            const Declarator member = read_declarator(tokens, q);
            if (member.end != 0 && member.points) note(members, member.name, member.space);
        }
    }
    return members;
}

class FunctionChecker {
  public:
    FunctionChecker(const Tokens &tokens, const Signatures &signatures, const Spaces &members,
                    const Declaration &declaration)
        : tokens_(tokens), signatures_(signatures), members_(members), first_(declaration.first),
          last_(declaration.last), result_(read_result(tokens, declaration)) {
        for (size_t k = first_; k <= last_; k++) {
            if (!is_address_space(tokens[k])) continue;
            const Declarator declared = read_declarator(tokens, k);
            if (declared.end == 0) continue;
            note(declared.points ? pointers_ : objects_, declared.name, declared.space);
        }
        for (size_t k = declaration.body; k <= last_; k++)
            has_lambda_ |= tokens[k] == "]" && tokens[k + 1] == "(";
    }

    void check() const {
        for (size_t k = first_; k <= last_; k++) {
            if (is_address_space(tokens_[k])) check_declaration(k);
            if (starts_statement(k) && tokens_[k + 1] == "=") {
                check_value(space_in(pointers_, tokens_[k]), k + 2);
            }
            const bool member = tokens_[k] == "." || tokens_[k] == "->";
            if (member && tokens_[k + 2] == "=") {
                check_value(space_in(members_, tokens_[k + 1]), k + 3);
            }
            if (tokens_[k] == "return" && !has_lambda_) check_value(result_, k + 1);
            check_call(k);
        }
    }

  private:
    bool starts_statement(size_t k) const {
        const std::string_view before = tokens_[k - 1];
        return before == ";" || before == "{" || before == "}";
    }

    // device T *x = y, or (device T *)y
    void check_declaration(size_t k) const {
        const Declarator declared = read_declarator(tokens_, k);
        if (declared.end != 0 && declared.points && tokens_[declared.end] == "=") {
            check_value(declared.space, declared.end + 1);
        }
        size_t close = k + 1;
        while (tokens_.is(close, TokenKind::Identifier))
            close++;
        if (tokens_[k - 1] == "(" && tokens_[close] == "*" && tokens_[close + 1] == ")") {
            check_value(tokens_[k], close + 2);
        }
    }

    void check_call(size_t k) const {
        if (!tokens_.is(k, TokenKind::Identifier) || tokens_[k + 1] != "(" || k == 0) return;
        const std::string_view before = tokens_[k - 1];
        if (before == "." || before == "->" || before == "::") return;
        const auto named = signatures_.find(tokens_[k]);
        if (named == signatures_.end() || pointers_.count(tokens_[k])) return;
        const std::vector<Range> arguments = split_list(tokens_, k + 1);
        for (size_t i = 0; i < arguments.size(); i++)
            check_argument(named->second, arguments, i);
    }

    // Wrong when each function that takes so many arguments wants another address space.
    void check_argument(const std::vector<Signature> &overloads,
                        const std::vector<Range> &arguments, size_t i) const {
        std::string_view wanted, from;
        for (const Signature &signature : overloads) {
            if (signature.size() != arguments.size()) continue;
            const SpacedParameter &parameter = signature[i];
            from = parameter.refers ? lvalue_space(arguments[i]) : value_space(arguments[i].first);
            if (parameter.space.empty() || from.empty() || from == parameter.space) return;
            wanted = parameter.space;
        }
        if (!wanted.empty()) refuse(arguments[i].first, from, wanted);
    }

    // Of the pointer that a value is, used as it is or with an offset; empty for anything else.
    std::string_view value_space(size_t k) const {
        const bool address = tokens_[k] == "&";
        if (address) k++;
        if (!tokens_.is(k, TokenKind::Identifier)) return {};
        const std::string_view next = tokens_[k + 1];
        const bool ends = next == ";" || next == "," || next == ")" || next == "}";
        if (!address) return ends || next == "+" ? space_in(pointers_, tokens_[k]) : "";
        if (ends) return space_in(objects_, tokens_[k]);
        const std::string_view behind = tokens_[tokens_.closing(k + 1) + 1];
        const bool element = next == "[" && (behind == ";" || behind == "," || behind == ")");
        return element ? space_in(pointers_, tokens_[k]) : "";
    }

    // Of an object that a reference is to stand for: x, x[i], *x.
    std::string_view lvalue_space(const Range &range) const {
        const size_t k = range.first;
        if (tokens_[k] == "*" && range.last == k + 1) return space_in(pointers_, tokens_[k + 1]);
        if (range.last == k) return space_in(objects_, tokens_[k]);
        const bool element = tokens_[k + 1] == "[" && tokens_.closing(k + 1) == range.last;
        return element ? space_in(pointers_, tokens_[k]) : "";
    }

    void check_value(std::string_view space, size_t k) const {
        const std::string_view from = value_space(k);
        if (!space.empty() && !from.empty() && from != space) refuse(k, from, space);
    }

    [[noreturn]] void refuse(size_t k, std::string_view from, std::string_view to) const {
        const size_t name = tokens_.is(k, TokenKind::Identifier) ? k : k + 1;
        const bool points = pointers_.count(tokens_[name]) > 0;
        throw TextError{
            tokens_.position(name),
            "'" + std::string(tokens_[name]) +
                (points ? "' points to the address space '" : "' lies in the address space '") +
                std::string(from) + "': it cannot become a pointer to '" + std::string(to) + "'"};
    }

    const Tokens &tokens_;
    const Signatures &signatures_;
    const Spaces &members_;
    const size_t first_, last_;
    const std::string_view result_;
    Spaces pointers_, objects_;
    bool has_lambda_ = false;  // whose `return` is not the function's
};

}  // namespace

void check_address_spaces(const Tokens &tokens) {
    const std::vector<Declaration> declarations = find_declarations(tokens);
    const Signatures signatures = read_signatures(tokens, declarations);
    const Spaces members = read_members(tokens);
    for (const Declaration &declaration : declarations) {
        if (declaration.body > declaration.last || tokens[declaration.first] == "struct") continue;
        FunctionChecker(tokens, signatures, members, declaration).check();
    }
}

}  // namespace msl
