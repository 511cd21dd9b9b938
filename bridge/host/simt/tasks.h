// One simt_pool_for in progress: its tasks, pulled one by one.
#pragma once
#include "simt.h"
#include "work.h"

#include <atomic>

namespace simt {

class Tasks final : public Work {
  public:
    Tasks(uint32_t count, simt_task task, void *context)
        : count_(count), task_(task), context_(context) {}

    bool open() const override { return next_.load(std::memory_order_relaxed) < count_; }
    void run() override;
    // Whether none touched memory that is not there.
    bool intact() const { return !failed_.load(std::memory_order_relaxed); }

  private:
    void run_all();

    const uint64_t count_;
    const simt_task task_;
    void *const context_;
    alignas(64) std::atomic<uint64_t> next_{0};
    alignas(64) std::atomic<bool> failed_{false};
};

}  // namespace simt
