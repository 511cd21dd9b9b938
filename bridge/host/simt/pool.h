// OS threads that help whoever runs a grid, and the workers of those who do.
#pragma once
#include "worker.h"

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
    void run(Job &job);

  private:
    static void *helper_main(void *pool);
    void help();
    void start_helpers(size_t wanted);
    Job *open_job() const;

    const uint32_t threads_;  // the caller of run() included
    const pid_t owner_;
    std::mutex lock_;
    std::condition_variable work_;
    bool closing_ = false;
    std::vector<Job *> jobs_;
    std::vector<pthread_t> helpers_;
    std::vector<std::unique_ptr<Worker>> idle_;  // for callers; a helper has its own
};

// Runs all of the job on the calling thread, with nobody's help.
void run_alone(Job &job);

}  // namespace simt
