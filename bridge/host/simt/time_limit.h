// The end of a launch's time: the OS thread that still runs a kernel then gets a signal, and leaves
// the threadgroup as it would for a fault.
#pragma once
#include "threadgroup.h"

#include <csignal>
#include <ctime>

namespace simt {

// Ignored where nobody handles it, and passed on by debuggers: one too many does no harm.
constexpr int TIME_LIMIT_SIGNAL = SIGURG;

// Holds the calling OS thread to the deadline of a launch, if it has one. Where the system has no
// timer left, nothing does.
class TimeLimit {
  public:
    TimeLimit(Threadgroup &group, const simt_launch &launch);
    TimeLimit(const TimeLimit &) = delete;
    TimeLimit &operator=(const TimeLimit &) = delete;
    ~TimeLimit();

  private:
    timer_t timer_;
    bool armed_ = false;
};

}  // namespace simt
