// The form of a cache entry: content, then a trailer that tells damage, truncation and mix-ups.
#pragma once
#include "sha256.h"

namespace msl {

std::string seal(const std::string &content, const Sha256::Digest &key);

// Removes the trailer; false when the entry is not exactly what was sealed under this key.
bool unseal(std::string &entry, const Sha256::Digest &key);

}  // namespace msl
