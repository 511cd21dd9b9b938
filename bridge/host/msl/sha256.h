// SHA-256 (FIPS 180-4).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace msl {

class Sha256 {
  public:
    using Digest = std::array<uint8_t, 32>;

    Sha256 &add(std::string_view bytes);
    // The length first, so that two lists of fields never look the same.
    Sha256 &add_field(std::string_view bytes);
    Digest finish();

    static Digest of(std::string_view bytes) { return Sha256().add(bytes).finish(); }

  private:
    void add_block(const uint8_t *block);

    std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<uint8_t, 64> pending_ = {};
    size_t pending_size_ = 0;
    uint64_t total_ = 0;
};

std::string hexadecimal(const Sha256::Digest &digest);

}  // namespace msl
