// OS threads that help whoever has work in pieces; they sleep when there is none.
#pragma once
#include "work.h"

#include <mutex>
#include <pthread.h>
#include <sys/types.h>
#include <vector>

namespace simt {

class Pool {
  public:
    explicit Pool(uint32_t threads);
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;
    ~Pool();

    uint32_t threads() const { return threads_; }
    // False in a child of the process that made the pool: its threads, and perhaps the hold on the
    // lock, stayed with the parent.
    bool usable() const;
    // Returns when all is done. `pieces`: how many there are, so that nobody is called in vain.
    void run(Work &work, uint64_t pieces);
    // Ends the threads, which start again with the next run. None may be in progress.
    void rest();

  private:
    static void *helper_main(void *pool);
    void help();
    void start_helpers(size_t wanted);
    Work *open_work() const;

    const uint32_t threads_;  // the caller of run() included
    const pid_t owner_;
    std::mutex lock_;
    std::condition_variable offered_;
    bool closing_ = false;
    std::vector<Work *> work_;
    std::vector<pthread_t> helpers_;
};

}  // namespace simt
