// Why a compilation failed; thrown inside the compiler, never across its C API.
#pragma once
#include "msl.h"
#include <string>

namespace msl {

struct Failure {
    msl_failure_kind kind;
    std::string message;
};

}  // namespace msl
