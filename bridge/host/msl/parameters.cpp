#include "parameters.h"

#include "overloads.h"

#include <set>

namespace msl {
namespace {

// The parameter that starts at k; `k` moves to the comma or parenthesis behind it.
Parameter read_parameter(const Tokens &tokens, size_t &k, size_t close) {
    Parameter parameter;
    const size_t first = k;
    size_t name = k, spaces = 0, levels = 0;
    bool default_argument = false;
    for (; k < close && tokens[k] != ","; k++) {
        if (tokens.opens_attributes(k)) {
            k = read_attributes(tokens, k, parameter.attributes);
        } else if (tokens[k] == "[") {
            parameter.points = true;
            k = tokens.closing(k);
        } else if (tokens[k] == "(" && (tokens[k + 1] == "&" || tokens[k + 1] == "*")) {
            continue;  // T (&name)[4]: the name is within
        } else if (tokens[k] == "(" || tokens[k] == "{") {
            k = tokens.closing(k);
        } else if (tokens[k] == "<" && !default_argument) {
            k = tokens.closing_angle(k);
        } else if (tokens[k] == "*" || tokens[k] == "&") {
            parameter.points |= !default_argument;
            levels += !default_argument;
        } else if (tokens[k] == "=") {
            default_argument = true;
        } else if (tokens.is(k, TokenKind::Identifier) && !default_argument) {
            parameter.threadgroup |= tokens[k] == "threadgroup";
            spaces += is_address_space(tokens[k]) && tokens[k] != "thread";
            parameter.tensor |= tokens[k] == "tensor" && tokens[k + 1] == "<";
            name = k;
        }
    }
    parameter.name = tokens[name];
    parameter.spaced = spaces > 0 && spaces >= levels;
    parameter.declared = tokens.between(first, name);
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
