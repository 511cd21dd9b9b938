// Workers that nobody uses, kept for whoever runs threadgroups next.
#pragma once
#include "worker.h"

#include <vector>

namespace simt {

class Workers {
  public:
    // Null when memory is out.
    std::unique_ptr<Worker> take();
    void give_back(std::unique_ptr<Worker> worker);
    void discard();

  private:
    std::mutex lock_;
    std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace simt
