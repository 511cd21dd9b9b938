#include "decode_levels.h"
#include "cpu_level.h"

namespace native {

#if defined(__x86_64__)
extern const DecodeLevel DECODE_V4, DECODE_V3, DECODE_V1;
#elif defined(__aarch64__)
extern const DecodeLevel DECODE_NEON;
#endif

namespace {

const DecodeLevel *const COMPILED[] = {
#if defined(__x86_64__)
    &DECODE_V4,
    &DECODE_V3,
    &DECODE_V1,
#elif defined(__aarch64__)
    &DECODE_NEON,
#endif
};

std::vector<const DecodeLevel *> find_levels() {
    std::vector<const DecodeLevel *> found;
    for (const std::string &name : msl::cpu_levels()) {
        for (const DecodeLevel *level : COMPILED)
            if (level->name == name) found.push_back(level);
    }
    return found;
}

}  // namespace

const std::vector<const DecodeLevel *> &decode_levels() {
    static const std::vector<const DecodeLevel *> levels = find_levels();
    return levels;
}

}  // namespace native
