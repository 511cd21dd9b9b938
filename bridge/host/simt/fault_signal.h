// Faults of the processor while a kernel runs: the threadgroup ends, the process does not.
#pragma once
#include <csignal>
#include <cstddef>

namespace simt {

struct Threadgroup;

// Takes over the signals of such faults, once. Faults elsewhere go to whom they went before.
// Takes over the signals of such faults, unless it has them: others may take them over between
// launches. Faults elsewhere go to whom they went before. A system call each time.
void fault_signal_install();
// The same, without a look while the system's coarse clock stands still, a few milliseconds: for
// work that takes little longer than the call.
void fault_signal_install_now_and_then();

// Takes out of a set what a thread that runs kernels must not block.
void fault_signal_exempt(sigset_t &blocked);

// Called by a signal handler that the kernel runs into, which has noted why: returning from it
// continues the worker as if the last thread had returned.
void fault_signal_leave(Threadgroup &group, void *context);

// Calls work(context), which may be left in the middle. False when it touched memory that is not
// there.
bool fault_signal_guard(void (*work)(void *), void *context);

// The kernel's frame on it alone takes 3 KiB with AVX-512, 11 KiB with AMX.
constexpr size_t SIGNAL_STACK_BYTES = 64 * 1024;

// Gives the OS thread a stack for signal handlers, where it has none: a kernel that ran out of its
// own stack leaves no room to handle that.
class SignalStack {
  public:
    explicit SignalStack(char (&bytes)[SIGNAL_STACK_BYTES]);
    SignalStack(const SignalStack &) = delete;
    SignalStack &operator=(const SignalStack &) = delete;
    ~SignalStack();

  private:
    bool ours_ = false;
};

}  // namespace simt
