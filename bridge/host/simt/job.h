// One simt_run in progress: its threadgroups, pulled one by one, and its first fault.
#pragma once
#include "launch.h"
#include "work.h"

#include <atomic>
#include <mutex>

namespace simt {

class Workers;

class Job final : public Work {
  public:
    Job(const simt_launch &launch, Workers &workers)
        : launch(launch), grid(launch), workers_(workers) {}

    const simt_launch &launch;
    const Grid grid;

    // Gives out the next threadgroup. False: none is left, or one has failed.
    bool take(uint64_t &n) {
        if (stopped_.load(std::memory_order_relaxed)) return false;
        n = next_.fetch_add(1, std::memory_order_relaxed);
        return n < grid.count();
    }
    bool open() const override {
        return !stopped_.load(std::memory_order_relaxed) &&
               next_.load(std::memory_order_relaxed) < grid.count();
    }
    void run() override;
    void fail(const simt_fault &fault) {
        const std::lock_guard<std::mutex> hold(lock_);
        if (fault_.kind == SIMT_FAULT_NONE) fault_ = fault;
        stopped_.store(true, std::memory_order_relaxed);
    }
    // Once nobody works on it any more.
    const simt_fault &fault() const { return fault_; }

  private:
    Workers &workers_;
    alignas(64) std::atomic<uint64_t> next_{0};
    alignas(64) std::atomic<bool> stopped_{false};
    std::mutex lock_;
    simt_fault fault_ = {};
};

}  // namespace simt
