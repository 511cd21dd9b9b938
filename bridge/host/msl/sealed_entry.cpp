#include "sealed_entry.h"

namespace msl {
namespace {

constexpr std::string_view MAGIC = "flashmetal entry 1\n";

std::string_view bytes_of(const Sha256::Digest &digest) {
    return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

// Magic, key, and a digest over everything, the content's length included.
std::string trailer(std::string_view content, const Sha256::Digest &key) {
    Sha256 hash;
    hash.add_field(MAGIC).add_field(bytes_of(key)).add_field(content);
    std::string text(MAGIC);
    text += bytes_of(key);
    text += bytes_of(hash.finish());
    return text;
}

constexpr size_t TRAILER_SIZE = MAGIC.size() + 2 * std::tuple_size_v<Sha256::Digest>;

}  // namespace

std::string seal(const std::string &content, const Sha256::Digest &key) {
    return content + trailer(content, key);
}

bool unseal(std::string &entry, const Sha256::Digest &key) {
    if (entry.size() < TRAILER_SIZE) return false;
    const size_t length = entry.size() - TRAILER_SIZE;
    const std::string_view content = std::string_view(entry).substr(0, length);
    if (std::string_view(entry).substr(length) != trailer(content, key)) return false;
    entry.resize(length);
    return true;
}

}  // namespace msl
