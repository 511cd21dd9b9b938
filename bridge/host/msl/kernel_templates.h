// Which of the kernel templates of one name an instantiation is about.
#pragma once
#include "kernels.h"

namespace msl {

enum class TemplateParameterKind { Type, Value };

struct TemplateParameter {
    TemplateParameterKind kind;
    bool optional = false;  // has a default, or is a pack
    bool pack = false;
};

struct KernelTemplate {
    std::vector<TemplateParameter> parameters;
    Kernel kernel;
};

// Between the '<' at `open` and the '>' that closes it.
std::vector<TemplateParameter> read_template_parameters(const Tokens &tokens, size_t open);

// Of at least one template, the first that the arguments fit; they stand between the '<' at `open`
// and the '>' at `close`. Where none fits, which the compiler will say, the last one.
const Kernel &choose_template(const std::vector<KernelTemplate> &templates, const Tokens &tokens,
                              size_t open, size_t close);

}  // namespace msl
