#include "time_limit.h"
#include "fault_signal.h"

#include <mutex>
#include <unistd.h>

#ifndef sigev_notify_thread_id  // glibc before 2.38
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace simt {
namespace {

constexpr long REPEAT_NANOSECONDS = 1000000;
constexpr uint64_t SECOND = 1000000000;

struct sigaction previous;
// By its address, signals of these timers are told from others.
char ours;

void pass_on(int signal, siginfo_t *info, void *context) {
    if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(signal);
    }
}

bool in_kernel(const Threadgroup &group, const MachineRegisters &registers) {
    return registers.instruction - group.code < group.code_bytes;
}

// The engine and the C library may hold a lock: only kernels are left in the middle. The timer
// repeats until it meets one.
SIMT_NO_ASAN void on_time(int signal, siginfo_t *info, void *context) {
    if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &ours) {
        return pass_on(signal, info, context);
    }
    Threadgroup *group = running;
    if (group == nullptr || !in_kernel(*group, machine_context_registers(context))) return;
    group->incident.kind = SIMT_FAULT_TIMEOUT;
    fault_signal_leave(*group, context);
}

// Each time, as the process may have set another handler meanwhile.
void install() {
    static std::mutex lock;
    const std::lock_guard<std::mutex> hold(lock);
    struct sigaction present, action = {};
    sigaction(TIME_LIMIT_SIGNAL, nullptr, &present);
    if ((present.sa_flags & SA_SIGINFO) && present.sa_sigaction == on_time) return;
    previous = present;
    action.sa_sigaction = on_time;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(TIME_LIMIT_SIGNAL, &action, nullptr);
}

timespec time_of(uint64_t nanoseconds) {
    return {static_cast<time_t>(nanoseconds / SECOND), static_cast<long>(nanoseconds % SECOND)};
}

}  // namespace

TimeLimit::TimeLimit(Threadgroup &group, const simt_launch &launch) {
    if (launch.deadline == 0) return;
    group.code = reinterpret_cast<uintptr_t>(msl_library_image(launch.library, &group.code_bytes));
    install();
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = TIME_LIMIT_SIGNAL;
    event.sigev_value.sival_ptr = &ours;
    event.sigev_notify_thread_id = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) return;
    armed_ = true;
    const itimerspec times = {{0, REPEAT_NANOSECONDS}, time_of(launch.deadline)};
    timer_settime(timer_, TIMER_ABSTIME, &times, nullptr);
}

TimeLimit::~TimeLimit() {
    if (armed_) timer_delete(timer_);
}

}  // namespace simt
