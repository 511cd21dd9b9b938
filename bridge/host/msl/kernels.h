// The kernel functions of a source file.
#pragma once
#include "attributes.h"
#include "declarations.h"

namespace msl {

struct Parameter {
    std::string name;
    std::string declared;  // its type and name, as they are written
    Attributes attributes;
    bool points = false;       // a pointer, a reference or an array
    bool spaced = false;       // it names an address space for each pointer, none of them `thread`
    bool threadgroup = false;  // to threadgroup memory
    bool tensor = false;
    bool used = false;  // the body names it
    Position position;
};

struct Kernel {
    std::string name;      // for the host
    std::string function;  // as C++ names it, e.g. "outer::f<64>"
    std::string limit;     // a constant expression: threads per threadgroup, 0 for any
    std::vector<Parameter> parameters;
    Position position;
    size_t first = 0, last = 0;  // tokens of the definition; both 0 for a template's instance
};

inline bool is_instance(const Kernel &kernel) {
    return kernel.last == 0;
}

// Lists the kernels that the host can name; two of one name are a TextError. Explicit
// instantiations are removed from the text, and
// [[max_total_threads_per_threadgroup(n)]] becomes a constant that `limit` names.
std::vector<Kernel> take_kernels(Tokens &tokens, const std::vector<Declaration> &declarations);

// Removes from the text what compiling the kernel `name` alone does not need.
void remove_other_kernels(Tokens &tokens, const std::vector<Kernel> &kernels,
                          const std::string &name);

}  // namespace msl
