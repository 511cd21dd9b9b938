// The kernels of a source file, run by the engine on the calling thread alone.
#pragma once
#include "simt.h"

#include <string>
#include <vector>

namespace bench {

struct Grid {
    uint32_t threadgroups[3];
    uint32_t threads[3];              // of a threadgroup
    uint32_t threadgroup_memory = 0;  // bytes of [[threadgroup(0)]]
};

class Kernels {
  public:
    Kernels(const char *source, uint32_t language_version);
    Kernels(const Kernels &) = delete;
    Kernels &operator=(const Kernels &) = delete;
    ~Kernels();

    // With the buffers bound in order.
    void run(const std::string &kernel, const std::vector<void *> &buffers, const Grid &grid);

  private:
    simt_pool *pool_;
    msl_library *library_;
};

}  // namespace bench
