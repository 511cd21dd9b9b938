// The functions of the level that a file is compiled for, in a namespace of its own.
#pragma once
#include "level.h"

namespace native::NATIVE_LEVEL {

void attend(const DecodePart &part);
void merge(const DecodeMerge &merge);

}  // namespace native::NATIVE_LEVEL
