// The functions of the level that a file is compiled for, in a namespace of its own.
#pragma once
#include "level.h"

namespace native::NATIVE_LEVEL {

void attend(const DecodePart &part);
void merge(const DecodeMerge &merge);
void classify_tiles(const MaskTilesPart &part);
void prefill(const PrefillPart &part);
double multiply_add(uint64_t rounds);
void read(const void *memory, size_t bytes);

}  // namespace native::NATIVE_LEVEL
