#include "argument_spaces.h"

#include <cstdlib>

namespace msl {
namespace {

constexpr std::string_view FILE_NAME = "<arguments>";
constexpr std::string_view FAILED = "static assertion failed";

struct Argument {
    const Kernel &kernel;
    size_t number;

    const Parameter &parameter() const { return kernel.parameters[number]; }
};

// Those that name no address space themselves, although a type's name may hold one.
std::vector<Argument> doubtful_arguments(const std::vector<Kernel> &kernels) {
    std::vector<Argument> found;
    for (const Kernel &kernel : kernels) {
        for (size_t i = 0; i < kernel.parameters.size(); i++) {
            const Parameter &parameter = kernel.parameters[i];
            const bool bound = parameter.points || find_attribute(parameter.attributes, "buffer") ||
                               find_attribute(parameter.attributes, "threadgroup");
            if (bound && !parameter.spaced) found.push_back({kernel, i});
        }
    }
    return found;
}

// "; write 'device float *x'" for `thread float *x`; empty where it is not as simple.
std::string proposal(const Parameter &parameter) {
    std::string text = parameter.declared;
    const size_t star = text.find_first_of("*&");
    if (star == std::string::npos || text.find_first_of("*&(", star + 1) != std::string::npos ||
        text[star - 1] == '(')
        return "";
    static const std::string thread = "thread ";
    const size_t at = text.find(thread);
    if (at != std::string::npos) text.erase(at, thread.size());
    return "; write 'device " + text + "'";
}

}  // namespace

std::string argument_checks(const std::vector<Kernel> &kernels) {
    std::string text = "\n#line 1 \"" + std::string(FILE_NAME) + "\"\n";
    for (const Argument &argument : doubtful_arguments(kernels)) {
        text += "static_assert(__msl::is_bindable<" + std::to_string(argument.number) +
                ">(&::" + argument.kernel.function + "));\n";
    }
    return text;
}

std::optional<TextError> find_unspaced_argument(const std::string &printed,
                                                const std::vector<Kernel> &kernels) {
    const std::vector<Argument> arguments = doubtful_arguments(kernels);
    const std::string start = std::string(FILE_NAME) + ":";
    for (size_t at = 0; (at = printed.find(start, at)) != std::string::npos; at++) {
        const std::string line = printed.substr(at, printed.find('\n', at) - at);
        const size_t number = std::strtoull(line.c_str() + start.size(), nullptr, 10);
        if (line.find(FAILED) == std::string::npos || number - 1 >= arguments.size()) continue;
        const Parameter &parameter = arguments[number - 1].parameter();
        return TextError{parameter.position,
                         "'" + parameter.name +
                             "' needs an address space: what a kernel's argument points or refers "
                             "to is 'device', 'constant' or 'threadgroup'" +
                             proposal(parameter)};
    }
    return {};
}

}  // namespace msl
