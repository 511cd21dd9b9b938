// The implementations of decode attention that this CPU runs.
#pragma once
#include "decode_level.h"

#include <vector>

namespace native {

// Best first; from the one on that FLASHMETAL_CPU names.
const std::vector<const DecodeLevel *> &decode_levels();

}  // namespace native
