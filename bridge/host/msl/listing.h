// The kernels of a text that was only checked, and its function constants: names, in the form of a
// library.
#pragma once
#include "function_constants.h"
#include "msl.h"

#include <string>
#include <vector>

namespace msl {

// As the cache keeps it.
std::string list_kernels(const std::vector<std::string> &names, const std::string &source_digest,
                         const std::vector<DeclaredConstant> &constants);

class Listing {
  public:
    // Whether it is one; else it stays as it was.
    bool read(const std::string &text);

    // Its kernels have neither an entry nor a function.
    const msl_image &image() const { return image_; }

  private:
    std::vector<std::string> names_;
    std::string source_digest_;
    std::vector<msl_kernel> kernels_;
    std::vector<DeclaredConstant> constants_;
    std::vector<msl_declared_constant> declared_;
    msl_image image_ = {};
};

}  // namespace msl
