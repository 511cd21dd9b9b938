#include "kernel_templates.h"

#include "ranges.h"

#include <algorithm>

namespace msl {
namespace {

// What an argument can be without knowing what its names mean.
bool may_be(TemplateParameterKind kind, const Tokens &tokens, const Range &argument) {
    const std::string_view first = tokens[argument.first];
    const bool literal = tokens.is(argument.first, TokenKind::Number) ||
                         tokens.is(argument.first, TokenKind::Character) || first == "true" ||
                         first == "false" || first == "(" || first == "-" || first == "!";
    if (kind == TemplateParameterKind::Type) return !literal;
    static constexpr std::string_view types[] = {
        "void",   "bool",   "char",  "uchar",  "short",    "ushort",      "int",
        "uint",   "long",   "ulong", "half",   "bfloat",   "float",       "unsigned",
        "signed", "size_t", "const", "device", "constant", "threadgroup", "thread"};
    const bool type = std::find(std::begin(types), std::end(types), first) != std::end(types);
    // A value may be made by a type's constructor.
    return !type || argument.last > argument.first;
}

bool fits(const KernelTemplate &candidate, const Tokens &tokens,
          const std::vector<Range> &arguments) {
    const std::vector<TemplateParameter> &parameters = candidate.parameters;
    for (size_t i = 0; i < std::max(parameters.size(), arguments.size()); i++) {
        const bool pack = !parameters.empty() && parameters.back().pack;
        if (i >= parameters.size() && !pack) return false;
        const TemplateParameter &parameter = parameters[std::min(i, parameters.size() - 1)];
        if (i >= arguments.size()) {
            if (!parameter.optional) return false;
        } else if (!may_be(parameter.kind, tokens, arguments[i])) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::vector<TemplateParameter> read_template_parameters(const Tokens &tokens, size_t open) {
    std::vector<TemplateParameter> parameters;
    for (const Range &range : split_list(tokens, open, tokens.closing_angle(open))) {
        const std::string_view first = tokens[range.first];
        const bool type = first == "typename" || first == "class" || first == "template";
        TemplateParameter parameter{type ? TemplateParameterKind::Type
                                         : TemplateParameterKind::Value};
        for (size_t k = range.first; k <= range.last; k++) {
            parameter.pack |= tokens[k] == "." && tokens[k + 1] == ".";
            parameter.optional |= tokens[k] == "=" || parameter.pack;
        }
        parameters.push_back(parameter);
    }
    return parameters;
}

const Kernel &choose_template(const std::vector<KernelTemplate> &templates, const Tokens &tokens,
                              size_t open, size_t close) {
    const std::vector<Range> arguments = split_list(tokens, open, close);
    for (const KernelTemplate &candidate : templates) {
        if (fits(candidate, tokens, arguments)) return candidate.kernel;
    }
    return templates.back().kernel;
}

}  // namespace msl
