// The implementations that this CPU runs.
#pragma once
#include "level.h"

#include <vector>

namespace native {

// Best first; from the one on that FLASHMETAL_CPU names.
const std::vector<const Level *> &levels();

}  // namespace native
