#include "declarations.h"

#include <algorithm>

namespace msl {
namespace {

class Finder {
  public:
    explicit Finder(const Tokens &tokens) : tokens_(tokens) {}

    std::vector<Declaration> run() {
        for (; at_ < tokens_.size(); at_++)
            read();
        return std::move(found_);
    }

  private:
    void read() {
        const std::string_view token = tokens_[at_];
        if (token == "template" && tokens_[at_ + 1] == "<") {
            at_ = tokens_.closing_angle(at_ + 1);
        } else if (token == "(" || token == "[") {
            at_ = tokens_.closing(at_);
        } else if (token == ";") {
            end_declaration(at_ + 1);
        } else if (token == "{" && opens_scope()) {
            scopes_.push_back(scope() + scope_name());
            first_ = at_ + 1;
        } else if (token == "{") {
            const size_t body = at_;
            const bool type = opens_type();
            at_ = tokens_.closing(at_);
            // A class's ends with the semicolon, and the variables that may stand before it.
            const std::string_view behind = tokens_[at_ + 1];
            if (!type && behind != ";" && behind != ",") end_declaration(body);
        } else if (token == "}") {
            if (!scopes_.empty()) scopes_.pop_back();
            first_ = at_ + 1;
        }
    }

    std::string scope() const { return scopes_.empty() ? "" : scopes_.back(); }

    bool opens_scope() const {
        const size_t k = tokens_[first_] == "inline" ? first_ + 1 : first_;
        return tokens_[k] == "namespace" ||
               (tokens_[k] == "extern" && tokens_.is(k + 1, TokenKind::String) && at_ == k + 2);
    }

    // Whether the '{' here is that of a class or an enumeration, and not of a function or a value.
    bool opens_type() const {
        bool type = false;
        for (size_t k = first_; k < at_; k++) {
            const std::string_view token = tokens_[k];
            if (token == "template" && tokens_[k + 1] == "<") {
                k = tokens_.closing_angle(k + 1);
            } else if (tokens_.opens_attributes(k) || token == "{") {
                k = tokens_.closing(k);
            } else if (token == "alignas" || token == "__attribute__" || token == "decltype") {
                k = tokens_.closing(k + 1);
            } else if (token == "(" || token == "=") {
                return false;
            } else if (token == "<" && type) {
                k = tokens_.closing_angle(k);
            } else {
                type |= defines_type(token);
            }
        }
        return type;
    }

    std::string scope_name() const {
        std::string name;
        for (size_t k = first_; k < at_; k++) {
            const bool keyword = tokens_[k] == "inline" || tokens_[k] == "namespace" ||
                                 tokens_[k] == "extern" || tokens_.is(k, TokenKind::String);
            if (!keyword) name += tokens_[k];
        }
        return name.empty() ? name : name + "::";
    }

    void end_declaration(size_t body) {
        found_.push_back({first_, std::min(at_, tokens_.size() - 1), body, scope()});
        first_ = at_ + 1;
    }

    const Tokens &tokens_;
    size_t at_ = 0, first_ = 0;
    std::vector<std::string> scopes_;
    std::vector<Declaration> found_;
};

}  // namespace

bool defines_type(std::string_view word) {
    return word == "struct" || word == "class" || word == "union" || word == "enum";
}

std::vector<Declaration> find_declarations(const Tokens &tokens) {
    return Finder(tokens).run();
}

}  // namespace msl
