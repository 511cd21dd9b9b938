#include "cpu_level.h"

#include <algorithm>
#include <cstdlib>

namespace msl {
namespace {

#if defined(__x86_64__)

const std::vector<std::string> KNOWN = {"x86-64-v4", "x86-64-v3", "x86-64"};

bool has_v3() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("lzcnt");
}

bool has_v4() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

size_t first_supported() {
    if (!has_v3()) return 2;
    return has_v4() ? 0 : 1;
}

const std::vector<std::string> OPTIONS = {};

#elif defined(__aarch64__)

const std::vector<std::string> KNOWN = {"armv8-a"};

size_t first_supported() {
    return 0;
}

// Else atomics are calls of the compiler's library, which need not be installed.
const std::vector<std::string> OPTIONS = {"-mno-outline-atomics"};

#else
#error "compiled kernels need x86-64 or aarch64"
#endif

constexpr char VARIABLE[] = "FLASHMETAL_CPU";

// Empty: not said.
std::string wanted() {
    const char *text = std::getenv(VARIABLE);
    return text == nullptr ? "" : text;
}

// The level that the environment names; before the first supported one: none.
size_t first_wanted() {
    const auto found = std::find(KNOWN.begin(), KNOWN.end(), wanted());
    return found == KNOWN.end() ? 0 : static_cast<size_t>(found - KNOWN.begin());
}

}  // namespace

const std::vector<std::string> &cpu_levels() {
    static const std::vector<std::string> levels(
        KNOWN.begin() + std::ptrdiff_t(std::max(first_supported(), first_wanted())), KNOWN.end());
    return levels;
}

std::string cpu_level_fault() {
    const std::string level = wanted();
    if (level.empty() || is_cpu_level(level)) return "";
    std::string names;
    for (const std::string &known : KNOWN)
        names += (names.empty() ? "" : ", ") + known;
    return std::string(VARIABLE) + " must be one of " + names + ", not \"" + level + "\"";
}

std::vector<std::string> cpu_options(const std::string &level) {
    std::vector<std::string> options = OPTIONS;
    options.push_back("-march=" + level);
    return options;
}

bool is_cpu_level(const std::string &level) {
    return std::find(KNOWN.begin(), KNOWN.end(), level) != KNOWN.end();
}

}  // namespace msl
