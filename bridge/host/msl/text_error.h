// What the rewriter itself finds wrong with a text.
#pragma once
#include "lines.h"
#include "msl.h"

namespace msl {

struct TextError {
    Position position;
    std::string message;
    msl_failure_kind kind = MSL_FAILURE_SOURCE;
};

}  // namespace msl
