// Which bytes of a piece of threadgroup memory have been written since its threadgroup began.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

class Written {
  public:
    void reset(size_t bytes) { words_.assign(bytes / BITS + 2, 0); }
    void add(size_t at, size_t bytes) {
        for (size_t count; bytes > 0; at += count, bytes -= count) {
            count = bytes < BITS - at % BITS ? bytes : BITS - at % BITS;
            words_[at / BITS] |= mask(count) << at % BITS;
        }
    }
    // The first of these bytes that is not written; `bytes` where all are.
    size_t first_missing(size_t at, size_t bytes) const {
        size_t seen = 0;
        while (seen < bytes) {
            const size_t bit = (at + seen) % BITS;
            const size_t count = bytes - seen < BITS - bit ? bytes - seen : BITS - bit;
            const uint64_t missing = ~(words_[(at + seen) / BITS] >> bit) & mask(count);
            if (missing != 0) return seen + static_cast<size_t>(__builtin_ctzl(missing));
            seen += count;
        }
        return bytes;
    }

  private:
    static constexpr size_t BITS = 64;

    static uint64_t mask(size_t count) {
        return count == BITS ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    }

    std::vector<uint64_t> words_;
};

}  // namespace simt
