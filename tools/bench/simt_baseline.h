// The engine measured against: a runtime that exports `msl_dispatch`, and kernels made for it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

class Baseline {
  public:
    Baseline(const char *runtime, const char *kernels);

    // On one thread, lowest first: the order that it is fastest in. `entry`: the kernel's symbol.
    void run(const std::string &entry, const std::vector<void *> &buffers, uint32_t threadgroups,
             uint32_t threads);

  private:
    std::string path_;
    void *kernels_;
    int (*dispatch_)(const void *launch, char *error, size_t error_bytes);
};

}  // namespace bench
