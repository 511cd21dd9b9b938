#include "sha256.h"

#include <algorithm>
#include <cstring>

namespace msl {
namespace {

constexpr uint32_t ROUND_CONSTANTS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t rotate_right(uint32_t value, unsigned count) {
    return value >> count | value << (32 - count);
}

uint32_t load_big_endian(const uint8_t *bytes) {
    return uint32_t(bytes[0]) << 24 | uint32_t(bytes[1]) << 16 | uint32_t(bytes[2]) << 8 | bytes[3];
}

}  // namespace

void Sha256::add_block(const uint8_t *block) {
    uint32_t schedule[64];
    for (int i = 0; i < 16; i++)
        schedule[i] = load_big_endian(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        const uint32_t near = schedule[i - 2], far = schedule[i - 15];
        schedule[i] = schedule[i - 16] + schedule[i - 7] +
                      (rotate_right(far, 7) ^ rotate_right(far, 18) ^ far >> 3) +
                      (rotate_right(near, 17) ^ rotate_right(near, 19) ^ near >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int i = 0; i < 64; i++) {
        const uint32_t first = h +
                               (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                               ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i] + schedule[i];
        const uint32_t second = (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) +
                                ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first;
        d = c, c = b, b = a, a = first + second;
    }
    const uint32_t added[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        state_[i] += added[i];
}

Sha256 &Sha256::add(std::string_view bytes) {
    total_ += bytes.size();
    const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
    for (size_t left = bytes.size(); left > 0;) {
        if (pending_size_ == 0 && left >= pending_.size()) {
            add_block(data);
            data += pending_.size(), left -= pending_.size();
            continue;
        }
        const size_t taken = std::min(left, pending_.size() - pending_size_);
        std::memcpy(pending_.data() + pending_size_, data, taken);
        data += taken, left -= taken, pending_size_ += taken;
        if (pending_size_ == pending_.size()) {
            add_block(pending_.data());
            pending_size_ = 0;
        }
    }
    return *this;
}

Sha256 &Sha256::add_field(std::string_view bytes) {
    return add(std::to_string(bytes.size())).add(":").add(bytes);
}

Sha256::Digest Sha256::finish() {
    const uint64_t bits = total_ * 8;
    add(std::string_view("\x80", 1));
    while (pending_size_ != 56)
        add(std::string_view("\0", 1));
    char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = char(bits >> (56 - 8 * i));
    add(std::string_view(length, 8));
    Digest digest;
    for (int i = 0; i < 32; i++)
        digest[i] = uint8_t(state_[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
}

std::string hexadecimal(const Sha256::Digest &digest) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const uint8_t byte : digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

}  // namespace msl
