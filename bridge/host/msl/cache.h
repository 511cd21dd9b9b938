// The on-disk cache. It only saves time: whatever is wrong with it reads as "not there".
#pragma once
#include "file_descriptor.h"
#include "sha256.h"

namespace msl {

class Cache {
  public:
    static constexpr uint64_t DEFAULT_LIMIT = 256 << 20;  // bytes

    // Makes the folder where it is missing. One that another user owns or may write to, or that is
    // a symbolic link, is not used.
    explicit Cache(const std::string &folder, uint64_t limit = DEFAULT_LIMIT);

    // Why what is stored in the folder is not kept; "": it is.
    static std::string fault(const std::string &folder);

    bool usable() const { return bool(folder_); }
    // Whether there is an undamaged entry of this user's.
    bool find(const Sha256::Digest &key, std::string &content) const;
    void store(const Sha256::Digest &key, const std::string &content) const;

  private:
    void write_entry(const std::string &name, const std::string &bytes) const;
    void evict() const;

    FileDescriptor folder_;
    uint64_t limit_;
};

}  // namespace msl
