#include "workers.h"

#include <new>

namespace simt {

std::unique_ptr<Worker> Workers::take() {
    const std::lock_guard<std::mutex> hold(lock_);
    if (idle_.empty()) return std::unique_ptr<Worker>(new (std::nothrow) Worker);
    std::unique_ptr<Worker> worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
}

void Workers::give_back(std::unique_ptr<Worker> worker) {
    const std::lock_guard<std::mutex> hold(lock_);
    idle_.push_back(std::move(worker));
}

void Workers::discard() {
    const std::lock_guard<std::mutex> hold(lock_);
    idle_.clear();
}

}  // namespace simt
