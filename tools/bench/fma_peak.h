// The fastest that this processor multiplies and adds floats.
#pragma once

namespace bench {

// Runs a loop of nothing else and returns how many floating-point operations that were, two for
// each multiplication with addition.
double multiply_and_add();

}  // namespace bench
