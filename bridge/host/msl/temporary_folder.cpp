#include "temporary_folder.h"

#include "failure.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace msl {

TemporaryFolder::TemporaryFolder() {
    const char *variable = std::getenv("TMPDIR");
    path_ = std::string(variable && *variable ? variable : "/tmp") + "/flashmetal-XXXXXX";
    if (!mkdtemp(path_.data())) {
        throw Failure{MSL_FAILURE_IO,
                      "cannot make a temporary folder " + path_ + ": " + std::strerror(errno)};
    }
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace msl
