// constant T name [[function_constant(index)]];
#pragma once
#include "declarations.h"
#include "elf_symbols.h"
#include "msl.h"

namespace msl {

struct FunctionConstant {
    std::string name, index;  // as the text has them
};

struct DeclaredConstant {
    std::string name;
    uint32_t index;
    std::string type;  // as msl_declared_constant has it
};

// Has clang, which looks at a text's syntax, print the declared constants, for declared_constants.
inline const std::vector<std::string> DECLARED_OPTIONS = {"-Xclang", "-ast-dump", "-Xclang",
                                                          "-ast-dump-filter=__msl_declared_"};
// In the order of the text.
std::vector<DeclaredConstant> declared_constants(const std::string &syntax_tree);

// Gives each the value that the request has for its index, where it has one.
std::vector<FunctionConstant>
define_function_constants(Tokens &tokens, const std::vector<Declaration> &declarations);

// Those that the text of an error speaks of.
std::vector<FunctionConstant> constants_in_error(const std::vector<FunctionConstant> &constants,
                                                 const std::string &error);
// Those of them that the request gives no value, with their indices as numbers.
std::vector<FunctionConstant>
constants_without_value(const std::vector<FunctionConstant> &constants,
                        const std::vector<DeclaredConstant> &declared, const msl_request &request);
// Those whose values an object file asks the linker for.
std::vector<FunctionConstant> missing_constants(const ElfSymbols &object);

// C++ that states the request's values, to stand before the user's text.
std::string function_constant_values(const msl_request &request);

// The same for people and for comparison: "2=true,400=32".
std::string describe_function_constants(const msl_request &request);

}  // namespace msl
