#include "declarations.h"

namespace msl {
namespace {

class Finder {
  public:
    explicit Finder(const Tokens &tokens) : tokens_(tokens) {}

    std::vector<Declaration> run() {
        read_scope("");
        return std::move(found_);
    }

  private:
    // Reads up to the '}' that closes the scope, or to the end.
    void read_scope(const std::string &scope) {
        size_t first = at_;
        for (; at_ < tokens_.size() && tokens_[at_] != "}"; at_++) {
            const std::string_view token = tokens_[at_];
            if (token == "template" && tokens_[at_ + 1] == "<") {
                at_ = tokens_.closing_angle(at_ + 1);
            } else if (token == "(" || token == "[") {
                at_ = tokens_.closing(at_);
            } else if (token == ";") {
                add(first, at_ + 1, scope);
                first = at_ + 1;
            } else if (token == "{" && opens_scope(first)) {
                at_++;
                read_scope(scope + scope_name(first));
                first = at_ + 1;
            } else if (token == "{") {
                const size_t body = at_;
                at_ = tokens_.closing(at_);
                // A class's ends with the semicolon, and what may stand before it.
                if (tokens_[at_ + 1] == ";") continue;
                add(first, body, scope);
                first = at_ + 1;
            }
        }
    }

    bool opens_scope(size_t first) const {
        if (tokens_[first] == "inline") first++;
        return tokens_[first] == "namespace" ||
               (tokens_[first] == "extern" && tokens_.is(first + 1, TokenKind::String));
    }

    std::string scope_name(size_t first) const {
        std::string name;
        for (size_t k = first; k < at_ - 1; k++) {
            const bool word = tokens_[k] == "inline" || tokens_[k] == "namespace" ||
                              tokens_[k] == "extern" || tokens_.is(k, TokenKind::String);
            if (!word) name += tokens_[k];
        }
        return name.empty() ? name : name + "::";
    }

    void add(size_t first, size_t body, const std::string &scope) {
        found_.push_back({first, std::min(at_, tokens_.size() - 1), body, scope});
    }

    const Tokens &tokens_;
    size_t at_ = 0;
    std::vector<Declaration> found_;
};

}  // namespace

std::vector<Declaration> find_declarations(const Tokens &tokens) {
    return Finder(tokens).run();
}

}  // namespace msl
