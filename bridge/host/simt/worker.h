// One of those who run threadgroups: stacks, threadgroup memory and the threads' identities. An OS
// thread takes it for a whole run and pulls threadgroups from the job until none is left.
#pragma once
#include "fault_signal.h"
#include "job.h"
#include "stack.h"
#include "threadgroup.h"

#include <cstdlib>
#include <memory>

namespace simt {

class Worker {
  public:
    void run(Job &job);

  private:
    struct Free {
        void operator()(unsigned char *bytes) const { free(bytes); }
    };

    bool prepare(const simt_launch &launch);
    bool allocate_memory(const simt_launch &launch);
    void check_dispatch(const simt_launch &launch);
    void run_threadgroup(const Job &job, uint64_t n);
    void lay_out(const Job &job, const uint32_t size[3]);

    Stacks stacks_;
    Scratch scratch_;
    Threadgroup group_ = {};
    uint32_t laid_out_[3];  // the threadgroup size that the threads of `group_` are written for
    // [[threadgroup(i)]] arguments in one block, and the library's own `threadgroup` variables.
    std::unique_ptr<unsigned char, Free> memory_;
    size_t memory_capacity_ = 0, memory_bytes_ = 0, variable_bytes_ = 0;
    void *variables_ = nullptr;
    unsigned char *arguments_[MSL_MAX_BUFFERS];
    char signal_stack_[SIGNAL_STACK_BYTES];
};

}  // namespace simt
