#include "paths.h"

#include <cstdlib>
#include <mutex>

namespace msl {
namespace {

constexpr char CACHE_VARIABLE[] = "FLASHMETAL_CACHE_DIR";

std::mutex lock;
std::string headers, cache;

std::string variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

bool is_absolute(const std::string &path) {
    return !path.empty() && path[0] == '/';
}

std::string default_cache() {
    const std::string own = variable(CACHE_VARIABLE);
    if (is_absolute(own)) return own;
    const std::string shared = variable("XDG_CACHE_HOME");
    if (is_absolute(shared)) return shared + "/flashmetal";
    const std::string home = variable("HOME");
    return is_absolute(home) ? home + "/.cache/flashmetal" : "";
}

}  // namespace

void set_header_folder(const char *folder) {
    const std::lock_guard<std::mutex> guard(lock);
    headers = folder ? folder : "";
}

std::string header_folder() {
    const std::lock_guard<std::mutex> guard(lock);
    return headers;
}

void set_cache_folder(const char *folder) {
    const std::lock_guard<std::mutex> guard(lock);
    cache = folder ? folder : "";
}

std::string cache_folder() {
    const std::lock_guard<std::mutex> guard(lock);
    return cache.empty() ? default_cache() : cache;
}

std::string named_cache_folder() {
    const std::string own = variable(CACHE_VARIABLE);
    return is_absolute(own) && cache_folder() == own ? own : "";
}

std::string cache_folder_fault() {
    const std::string own = variable(CACHE_VARIABLE);
    if (own.empty() || is_absolute(own)) return "";
    return std::string(CACHE_VARIABLE) + " must be an absolute path, not \"" + own + "\"";
}

}  // namespace msl
