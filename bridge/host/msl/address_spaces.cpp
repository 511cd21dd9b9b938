#include "address_spaces.h"

#include "declarations.h"
#include "overloads.h"
#include "text_error.h"

#include <map>

namespace msl {
namespace {

// The address space that each name points to; empty where that is not known or not the same
// everywhere.
using Spaces = std::map<std::string_view, std::string_view>;

// A declarator such as `device const T *x`, from the address space at k.
struct Declarator {
    std::string_view space, name;
    size_t end = 0;  // behind the name; 0 where this declares no pointer
};

Declarator read_declarator(const Tokens &tokens, size_t k) {
    Declarator found{tokens[k], "", 0};
    bool points = false;
    for (k++; k < tokens.size(); k++) {
        const std::string_view token = tokens[k];
        if (token == "<") {
            k = tokens.closing_angle(k);
        } else if (token == "*" && !points) {
            points = true;
        } else if (tokens.is(k, TokenKind::Identifier) && !is_address_space(token)) {
            const std::string_view next = tokens[k + 1];
            const bool last =
                next == "=" || next == ";" || next == "," || next == ")" || next == "[";
            if (!last) continue;
            found.name = token;
            const bool array = next == "[" && !tokens.opens_attributes(k + 1);
            if (points || (array && found.space == "threadgroup")) found.end = k + 1;
            return found;
        } else if (token != "::") {
            return found;
        }
    }
    return found;
}

// A pointer's name at k, used as it is or with an offset; empty for anything else.
std::string_view plain_pointer(const Tokens &tokens, size_t k) {
    if (!tokens.is(k, TokenKind::Identifier)) return {};
    const std::string_view next = tokens[k + 1];
    const bool plain = next == ";" || next == "," || next == ")" || next == "+";
    return plain ? tokens[k] : std::string_view();
}

class FunctionChecker {
  public:
    FunctionChecker(const Tokens &tokens, size_t first, size_t last)
        : tokens_(tokens), first_(first), last_(last) {
        for (size_t k = first; k <= last; k++) {
            if (is_address_space(tokens[k])) note(read_declarator(tokens, k));
        }
    }

    void check() const {
        for (size_t k = first_; k <= last_; k++) {
            if (is_address_space(tokens_[k])) check_declaration(k);
            if (starts_statement(k) && tokens_[k + 1] == "=") check_assignment(k);
        }
    }

  private:
    void note(const Declarator &declared) {
        if (declared.end == 0) return;
        const auto [known, is_new] = spaces_.emplace(declared.name, declared.space);
        if (!is_new && known->second != declared.space) known->second = {};
    }

    std::string_view space_of(std::string_view name) const {
        const auto known = spaces_.find(name);
        return known == spaces_.end() ? std::string_view() : known->second;
    }

    bool starts_statement(size_t k) const {
        const std::string_view before = tokens_[k - 1];
        return before == ";" || before == "{" || before == "}";
    }

    // device T *x = y, or (device T *)y
    void check_declaration(size_t k) const {
        const Declarator declared = read_declarator(tokens_, k);
        if (declared.end != 0 && tokens_[declared.end] == "=") {
            check_value(declared.space, declared.end + 1);
        }
        size_t close = k + 1;
        while (tokens_.is(close, TokenKind::Identifier))
            close++;
        if (tokens_[k - 1] == "(" && tokens_[close] == "*" && tokens_[close + 1] == ")") {
            check_value(tokens_[k], close + 2);
        }
    }

    void check_assignment(size_t k) const {
        const std::string_view space = space_of(tokens_[k]);
        if (!space.empty()) check_value(space, k + 2);
    }

    void check_value(std::string_view space, size_t k) const {
        const std::string_view from = space_of(plain_pointer(tokens_, k));
        if (from.empty() || from == space) return;
        throw TextError{tokens_.position(k),
                        "'" + std::string(tokens_[k]) + "' points to the address space '" +
                            std::string(from) + "': it cannot become a pointer to '" +
                            std::string(space) + "'"};
    }

    const Tokens &tokens_;
    const size_t first_, last_;
    Spaces spaces_;
};

}  // namespace

void check_address_spaces(const Tokens &tokens) {
    for (const Declaration &declaration : find_declarations(tokens)) {
        if (declaration.body > declaration.last || tokens[declaration.first] == "struct") continue;
        FunctionChecker(tokens, declaration.first, declaration.last).check();
    }
}

}  // namespace msl
