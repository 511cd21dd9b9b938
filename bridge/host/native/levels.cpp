#include "levels.h"
#include "cpu_level.h"

namespace native {

#if defined(__x86_64__)
namespace x86_64_v4 {
extern const Level LEVEL;
}
namespace x86_64_v3 {
extern const Level LEVEL;
}
namespace x86_64 {
extern const Level LEVEL;
}
static const Level *const COMPILED[] = {&x86_64_v4::LEVEL, &x86_64_v3::LEVEL, &x86_64::LEVEL};
#elif defined(__aarch64__)
namespace armv8_a {
extern const Level LEVEL;
}
static const Level *const COMPILED[] = {&armv8_a::LEVEL};
#endif

static std::vector<const Level *> find_levels() {
    std::vector<const Level *> found;
    for (const std::string &name : msl::cpu_levels()) {
        for (const Level *level : COMPILED)
            if (level->name == name) found.push_back(level);
    }
    return found;
}

const std::vector<const Level *> &levels() {
    static const std::vector<const Level *> found = find_levels();
    return found;
}

}  // namespace native
