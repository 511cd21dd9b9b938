// What is compiled once for each CPU level, of the same source.
#pragma once
#include "decode_part.h"
#include "mask_tiles_part.h"
#include "prefill_part.h"

namespace native {

// What a level can read are multiples of this many bytes.
constexpr size_t READ_UNIT = 512;

struct Level {
    const char *name;
    void (*attend)(const DecodePart &part);
    void (*merge)(const DecodeMerge &merge);
    void (*classify_tiles)(const MaskTilesPart &part);
    void (*prefill)(const PrefillPart &part);
    // For benchmarks. The first gives the floating-point operations that it did.
    double (*multiply_add)(uint64_t rounds);
    void (*read)(const void *memory, size_t bytes);
};

}  // namespace native
