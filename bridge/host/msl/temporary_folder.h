// A private folder that is removed with its owner.
#pragma once
#include <string>

namespace msl {

class TemporaryFolder {
  public:
    // Under TMPDIR, or /tmp. Throws Failure.
    TemporaryFolder();
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    ~TemporaryFolder();

    const std::string &path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace msl
