// The handle of the C API.
#pragma once
#include "checker.h"

struct simt_checker : simt::Checker {
    using Checker::Checker;
};
