// What the rewriter itself finds wrong with a text.
#pragma once
#include "lines.h"
#include "msl.h"

#include <optional>

namespace msl {

// Another place that an error is about.
struct TextNote {
    Position position;
    std::string message;
};

struct TextError {
    Position position;
    std::string message;
    msl_failure_kind kind = MSL_FAILURE_SOURCE;
    std::optional<TextNote> note = {};
};

}  // namespace msl
