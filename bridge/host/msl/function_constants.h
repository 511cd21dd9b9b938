// constant T name [[function_constant(index)]];
#pragma once
#include "declarations.h"
#include "elf_symbols.h"
#include "msl.h"

namespace msl {

struct FunctionConstant {
    std::string name, index;  // as the text has them
};

// Gives each the value that the request has for its index, where it has one.
std::vector<FunctionConstant>
define_function_constants(Tokens &tokens, const std::vector<Declaration> &declarations);

// Those that the request gives no value, as far as the text of an error speaks of them.
std::vector<FunctionConstant>
constants_without_value(const std::vector<FunctionConstant> &constants, const msl_request &request,
                        const std::string &error);
// Those whose values an object file asks the linker for.
std::vector<FunctionConstant> missing_constants(const ElfSymbols &object);

// C++ that states the request's values, to stand before the user's text.
std::string function_constant_values(const msl_request &request);

// The same for people and for comparison: "2=true,400=32".
std::string describe_function_constants(const msl_request &request);

}  // namespace msl
