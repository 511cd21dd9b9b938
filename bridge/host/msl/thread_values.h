// Variables at program scope that stand for what the running thread is: a position, an index.
#pragma once
#include "attributes.h"
#include "declarations.h"

namespace msl {

// Makes a function of each, and a call of each use. Returns the declarations that are left.
std::vector<Declaration> define_thread_values(Tokens &tokens,
                                              const std::vector<Declaration> &declarations);

// The attributes that give a value of the running thread.
std::vector<std::string_view> thread_attributes();

// What a kernel's parameter, or such a variable, of the type has by its attributes, for the
// msl_thread that `self` points to; empty where no attribute gives a value.
std::string thread_value(const Attributes &attributes, const std::string &type);

}  // namespace msl
