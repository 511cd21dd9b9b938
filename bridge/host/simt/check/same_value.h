// A write that may be harmless: to where another thread has read or written, unordered, but the
// value that is there. The checks are told before the write happens; it has by the time that they
// are told of another.
#pragma once
#include "finding.h"

#include <cstring>

namespace simt {

class SameValue {
  public:
    static constexpr size_t MOST_BYTES = 64;

    // Whether it can tell: an earlier one must be settled.
    bool expect(const Finding &finding) {
        if (finding.bytes > MOST_BYTES) return false;
        finding_ = finding;
        memcpy(before_, reinterpret_cast<const void *>(finding.address), finding.bytes);
        return true;
    }
    // What was expected and has turned out to change something; null: nothing.
    const Finding *settle() {
        if (finding_.kind == FindingKind::Nothing) return nullptr;
        const bool same =
            memcmp(before_, reinterpret_cast<const void *>(finding_.address), finding_.bytes) == 0;
        if (!same) return &finding_;
        finding_.kind = FindingKind::Nothing;
        return nullptr;
    }
    void forget() { finding_.kind = FindingKind::Nothing; }

  private:
    Finding finding_;
    unsigned char before_[MOST_BYTES];
};

}  // namespace simt
