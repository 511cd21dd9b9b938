#include "overloads.h"

#include <algorithm>
#include <map>

namespace msl {
namespace {

bool among(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// Specifiers that do not tell two functions apart.
bool is_specifier(std::string_view word) {
    return among(word,
                 {"inline", "static", "constexpr", "METAL_FUNC", "explicit", "friend", "typename"});
}

// Words that end a parameter's type when the parameter has no name.
bool is_type_word(std::string_view word) {
    return among(word, {"const", "volatile", "unsigned", "signed", "int", "long", "short", "char",
                        "float", "half", "bool", "uint", "ulong", "ushort", "uchar"});
}

// One declaration of a scope.
struct Head {
    size_t first = 0, name = 0;        // behind the template's parameters: type and name
    size_t open = 0, close = 0;        // the function's parameters; 0: it is none
    size_t body = 0, last = 0;         // '{' or 0; the last token
    bool scope = false, type = false;  // of a namespace; of a class
};

class Collapser {
  public:
    explicit Collapser(Tokens &tokens) : tokens_(tokens) {}

    void scan(size_t first, size_t end, const std::string &path, bool in_class) {
        for (size_t k = first; k < end;) {
            if (among(tokens_[k], {"public", "private", "protected"}) && tokens_[k + 1] == ":") {
                k += 2;
                continue;
            }
            const Head head = read(k, end);
            if (head.scope || head.type) {
                const size_t close = tokens_.closing(head.body);
                scan(head.body + 1, close, path + text(head.name, head.body) + "|", head.type);
            }
            if (is_candidate(head, in_class)) {
                drop_repetition(head, path);
                if (in_class && is_constructor(head)) drop_qualifiers(head);
            }
            k = head.last + 1;
        }
    }

  private:
    Head read(size_t k, size_t end) const {
        Head head;
        head.first = k;
        while (tokens_[k] == "template" && tokens_[k + 1] == "<")
            k = tokens_.closing_angle(k + 1) + 1;
        head.name = k;
        for (; k < end; k++) {
            const std::string_view token = tokens_[k];
            if (token == ";") break;
            if (tokens_.opens_attributes(k)) {
                k = tokens_.closing(k);
            } else if (among(token, {"namespace", "extern"})) {
                head.scope = true;
            } else if (among(token, {"struct", "class", "union"})) {
                head.type = true;
            } else if (token == "enum") {
                k = skip_enumeration(k, end);
            } else if (token == "operator") {
                k = last_of_operator(k);
            } else if (token == "=" && head.open == 0) {
                k = skip_to_semicolon(k, end) - 1;
            } else if (token == "<" && tokens_.is(k - 1, TokenKind::Identifier)) {
                k = tokens_.closing_angle(k);
            } else if (token == "(" || token == "[") {
                k = read_parentheses(head, k);
            } else if (token == ":" && head.open != 0) {
                k = skip_initialisers(k, end);
            } else if (token == "{") {
                if (head.open != 0) head.scope = head.type = false;
                head.body = k;
                k = tokens_.closing(k);
                if (!head.type && (head.open != 0 || head.scope)) break;
            }
        }
        if (head.body == 0 || head.open != 0) head.scope = head.type = false;
        head.last = std::min(k, end - 1);
        return head;
    }

    size_t read_parentheses(Head &head, size_t k) const {
        const size_t close = tokens_.closing(k);
        const bool parameters = tokens_[k] == "(" && head.open == 0 &&
                                !among(tokens_[k - 1], {"decltype", "alignas", "__attribute__",
                                                        "static_assert", "coherent"});
        if (parameters) head.open = k, head.close = close;
        return close;
    }

    size_t skip_enumeration(size_t k, size_t end) const {
        while (k + 1 < end && tokens_[k + 1] != "{" && tokens_[k + 1] != ";")
            k++;
        return tokens_[k + 1] == "{" ? tokens_.closing(k + 1) : k;
    }

    // The last token of `operator()`, `operator T` or `operator+`.
    size_t last_of_operator(size_t k) const {
        if (tokens_[k + 1] == "(") return k + 2;
        while (k + 1 < tokens_.size() && tokens_[k + 1] != "(" && tokens_[k + 1] != ";")
            k++;
        return k;
    }

    size_t skip_to_semicolon(size_t k, size_t end) const {
        for (; k < end && tokens_[k] != ";"; k++) {
            if (among(tokens_[k], {"(", "[", "{"})) k = tokens_.closing(k);
        }
        return k;
    }

    // From the colon of a constructor to before its body.
    size_t skip_initialisers(size_t k, size_t end) const {
        do {
            while (k < end && tokens_[k] != "(" && tokens_[k] != "{") {
                if (tokens_[k] == "<") k = tokens_.closing_angle(k);
                k++;
            }
            k = tokens_.closing(k) + 1;
        } while (k < end && tokens_[k] == ",");
        return k - 1;
    }

    bool is_candidate(const Head &head, bool in_class) const {
        if (head.open != 0) {
            for (size_t k = head.first; k < head.open; k++) {
                if (tokens_[k] == "kernel") return false;
            }
            return head.body != 0 || in_class;
        }
        return head.type && head.body != 0 && head.name != head.first;
    }

    void drop_qualifiers(const Head &head) {
        for (size_t k = head.close + 1; is_address_space(tokens_[k]); k++)
            tokens_.replace(k, "");
    }

    void drop_repetition(const Head &head, const std::string &path) {
        std::string key = path + text(head.first, head.name) + "#";
        size_t end = head.body;
        if (head.open != 0) {
            key += text(head.name, head.open) + "(";
            for (size_t k = head.open + 1; k < head.close; k++)
                key += parameter(k, head.close) + ",";
            end = head.close + 1;
            bool constant = false;
            for (; end <= head.last && !among(tokens_[end], {"{", ";", ":", "=", "->"}); end++)
                constant |= among(tokens_[end], {"const", "constant"});
            if (is_constructor(head)) constant = false;
            key += constant ? ")const" : ")";
        } else {
            key += text(head.name, head.body);
        }
        bool spaced = false;
        for (size_t k = head.first; k < end; k++)
            spaced |= is_address_space(tokens_[k]);
        const auto [first, is_new] = seen_.emplace(key, spaced);
        if (!is_new && (spaced || first->second)) tokens_.blank(head.first, head.last);
    }

    // One that is `constant` must not become const, which C++ has no constructors of.
    bool is_constructor(const Head &head) const {
        size_t words = 0;
        for (size_t k = head.name; k < head.open; k++)
            words += !is_specifier(tokens_[k]);
        return head.open != 0 && words == 1;
    }

    // Without address spaces and specifiers; `constant` is const, which is said once for a type and
    // in front of it.
    std::string text(size_t k, size_t end) const {
        std::string result, type, constant;
        for (; k < end; k++) {
            if (tokens_.opens_attributes(k)) {
                k = tokens_.closing(k);
            } else if (among(tokens_[k], {"const", "constant"})) {
                constant = "const ";
            } else if (among(tokens_[k], {"*", "&", "&&", ",", "<", ">", "(", ")"})) {
                result += constant + type + std::string(tokens_[k]) + " ";
                type = constant = "";
            } else if (!is_specifier(tokens_[k]) && !is_address_space(tokens_[k])) {
                type += std::string(tokens_[k]) + " ";
            }
        }
        return result + constant + type;
    }

    // The type of the parameter at k; `k` moves to the comma or parenthesis behind it.
    std::string parameter(size_t &k, size_t close) const {
        const size_t first = k;
        size_t end = 0;
        for (; k < close && tokens_[k] != ","; k++) {
            if (tokens_[k] == "=" && end == 0) end = k;
            if (tokens_[k] == "<" && end == 0) k = tokens_.closing_angle(k);
            if (among(tokens_[k], {"(", "[", "{"})) k = tokens_.closing(k);
        }
        if (end == 0) end = k;
        std::string type, constant;
        for (size_t q = first; q < end; q++) {
            if (tokens_.opens_attributes(q)) {
                q = tokens_.closing(q);
            } else if (among(tokens_[q], {"*", "&", "&&"})) {
                return constant + type + text(q, is_name(end - 1, q) ? end - 1 : end);
            } else if (among(tokens_[q], {"const", "constant"})) {
                constant = "const ";
            } else if (!is_name(q, first) || q + 1 < end) {
                type += text(q, q + 1);
            }
        }
        return constant + type;
    }

    // Whether the token is a parameter's name, not part of its type that starts at `first`.
    bool is_name(size_t k, size_t first) const {
        return k > first && tokens_.is(k, TokenKind::Identifier) && !is_type_word(tokens_[k]) &&
               !is_address_space(tokens_[k]) && tokens_[k - 1] != "::" &&
               !among(tokens_[k - 1],
                      {"const", "constant", "device", "thread", "threadgroup", "typename"});
    }

    Tokens &tokens_;
    std::map<std::string, bool> seen_;  // and whether it names an address space
};

}  // namespace

bool is_address_space(std::string_view word) {
    return among(word, {"device", "constant", "thread", "threadgroup", "threadgroup_imageblock"});
}

void collapse_overloads(Tokens &tokens) {
    Collapser(tokens).scan(0, tokens.size(), "", false);
}

}  // namespace msl
