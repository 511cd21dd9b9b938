#include "pool.h"
#include "fault.h"

#include <algorithm>
#include <csignal>
#include <new>
#include <unistd.h>

namespace simt {
namespace {

std::unique_ptr<Worker> create_worker() {
    return std::unique_ptr<Worker>(new (std::nothrow) Worker);
}

void run_with(Worker *worker, Job &job) {
    if (worker == nullptr) return job.fail(fault_out_of_memory(job.launch));
    worker->run(job);
}

// Helpers start with all signals blocked but those of faults: handlers belong to other threads.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
            sigdelset(&all, fault);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked &) = delete;
    SignalsBlocked &operator=(const SignalsBlocked &) = delete;
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_;
};

}  // namespace

void run_alone(Job &job) {
    run_with(create_worker().get(), job);
}

Pool::Pool(uint32_t threads) : threads_(threads), owner_(getpid()) {}

Pool::~Pool() {
    {
        const std::lock_guard<std::mutex> hold(lock_);
        closing_ = true;
    }
    work_.notify_all();
    for (pthread_t helper : helpers_)
        pthread_join(helper, nullptr);
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

Job *Pool::open_job() const {
    const auto found =
        std::find_if(jobs_.begin(), jobs_.end(), [](const Job *job) { return job->open(); });
    return found == jobs_.end() ? nullptr : *found;
}

void Pool::help() {
    const std::unique_ptr<Worker> worker = create_worker();
    if (!worker) return;
    std::unique_lock<std::mutex> hold(lock_);
    while (!closing_) {
        Job *job = open_job();
        if (job == nullptr) {
            work_.wait(hold);
            continue;
        }
        job->helpers++;
        hold.unlock();
        worker->run(*job);
        hold.lock();
        if (--job->helpers == 0) job->unattended.notify_one();
    }
}

void Pool::run(Job &job) {
    std::unique_ptr<Worker> worker;
    size_t called = std::min<uint64_t>(threads_, job.grid.count()) - 1;
    {
        const std::lock_guard<std::mutex> hold(lock_);
        if (!idle_.empty()) {
            worker = std::move(idle_.back());
            idle_.pop_back();
        }
        start_helpers(called);
        called = std::min(called, helpers_.size());
        if (called != 0) jobs_.push_back(&job);
    }
    for (size_t i = 0; i < called; i++)
        work_.notify_one();
    if (!worker) worker = create_worker();
    run_with(worker.get(), job);
    std::unique_lock<std::mutex> hold(lock_);
    jobs_.erase(std::remove(jobs_.begin(), jobs_.end(), &job), jobs_.end());
    job.unattended.wait(hold, [&] { return job.helpers == 0; });
    if (worker) idle_.push_back(std::move(worker));
}

}  // namespace simt
