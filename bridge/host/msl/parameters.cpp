#include "parameters.h"

#include <set>

namespace msl {
namespace {

// The parameter that starts at k; `k` moves to the comma or parenthesis behind it.
Parameter read_parameter(const Tokens &tokens, size_t &k, size_t close) {
    Parameter parameter;
    size_t name = k;
    bool default_argument = false;
    for (; k < close && tokens[k] != ","; k++) {
        if (tokens.opens_attributes(k)) {
            k = read_attributes(tokens, k, parameter.attributes);
        } else if (tokens[k] == "[") {
            parameter.points = true;
            k = tokens.closing(k);
        } else if (tokens[k] == "(" || tokens[k] == "{") {
            k = tokens.closing(k);
        } else if (tokens[k] == "<" && !default_argument) {
            k = tokens.closing_angle(k);
        } else if (tokens[k] == "*" || tokens[k] == "&") {
            parameter.points |= !default_argument;
        } else if (tokens[k] == "=") {
            default_argument = true;
        } else if (tokens[k] == "threadgroup") {
            parameter.threadgroup = true;
        } else if (tokens.is(k, TokenKind::Identifier) && !default_argument) {
            name = k;
        }
    }
    parameter.name = tokens[name];
    parameter.position = tokens.position(name);
    return parameter;
}

}  // namespace

std::vector<Parameter> read_parameters(const Tokens &tokens, size_t open, size_t close, size_t body,
                                       size_t last) {
    std::vector<Parameter> parameters;
    for (size_t k = open + 1; k < close; k++) {
        if (tokens[k] == "void" && k + 1 == close) break;
        parameters.push_back(read_parameter(tokens, k, close));
    }
    std::set<std::string_view> named;
    for (size_t k = body; k <= last; k++) {
        if (tokens.is(k, TokenKind::Identifier)) named.insert(tokens[k]);
    }
    for (Parameter &parameter : parameters)
        parameter.used = named.count(parameter.name) > 0;
    return parameters;
}

}  // namespace msl
