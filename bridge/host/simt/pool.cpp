#include "pool.h"
#include "fault_signal.h"

#include <algorithm>
#include <unistd.h>

namespace simt {
namespace {

// Helpers start with all signals blocked but those of kernels: handlers belong to other threads.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        fault_signal_exempt(all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked &) = delete;
    SignalsBlocked &operator=(const SignalsBlocked &) = delete;
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_;
};

}  // namespace

Pool::Pool(uint32_t threads) : threads_(threads), owner_(getpid()) {}

Pool::~Pool() {
    rest();
}

void Pool::rest() {
    {
        const std::lock_guard<std::mutex> hold(lock_);
        closing_ = true;
    }
    offered_.notify_all();
    for (pthread_t helper : helpers_)
        pthread_join(helper, nullptr);
    helpers_.clear();
    closing_ = false;
}

bool Pool::usable() const {
    return owner_ == getpid();
}

void *Pool::helper_main(void *pool) {
    static_cast<Pool *>(pool)->help();
    return nullptr;
}

void Pool::start_helpers(size_t wanted) {
    if (helpers_.size() >= wanted) return;
    const SignalsBlocked blocked;
    while (helpers_.size() < wanted) {
        pthread_t helper;
        if (pthread_create(&helper, nullptr, helper_main, this) != 0) return;
        pthread_setname_np(helper, "simt");
        helpers_.push_back(helper);
    }
}

Work *Pool::open_work() const {
    const auto found =
        std::find_if(work_.begin(), work_.end(), [](const Work *work) { return work->open(); });
    return found == work_.end() ? nullptr : *found;
}

void Pool::help() {
    std::unique_lock<std::mutex> hold(lock_);
    while (!closing_) {
        Work *work = open_work();
        if (work == nullptr) {
            offered_.wait(hold);
            continue;
        }
        work->helpers_++;
        hold.unlock();
        work->run();
        hold.lock();
        if (--work->helpers_ == 0) work->unattended_.notify_one();
    }
}

void Pool::run(Work &work, uint64_t pieces) {
    size_t called = std::min<uint64_t>(threads_, pieces) - 1;
    if (called == 0) return work.run();
    {
        const std::lock_guard<std::mutex> hold(lock_);
        start_helpers(called);
        called = std::min(called, helpers_.size());
        if (called != 0) work_.push_back(&work);
    }
    for (size_t i = 0; i < called; i++)
        offered_.notify_one();
    work.run();
    std::unique_lock<std::mutex> hold(lock_);
    work_.erase(std::remove(work_.begin(), work_.end(), &work), work_.end());
    work.unattended_.wait(hold, [&] { return work.helpers_ == 0; });
}

}  // namespace simt
