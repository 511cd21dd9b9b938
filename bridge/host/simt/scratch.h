// Memory that a worker lends to what its threads compute together.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace simt {

class Scratch {
  public:
    // Null: no memory.
    void *reserve(size_t bytes);

  private:
    struct Free {
        void operator()(void *bytes) const { free(bytes); }
    };

    std::unique_ptr<void, Free> memory_;
    size_t capacity_ = 0;
};

// The running worker's. Without memory the threadgroup is abandoned.
void *scratch_memory(size_t bytes);

}  // namespace simt
