#include "fault_signal.h"
#include "threadgroup.h"
#include "time_limit.h"

#include <csetjmp>
#include <iterator>
#include <mutex>

namespace simt {
namespace {

// The last two: traps that the compiler puts where it proved that nothing leads.
constexpr int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

struct sigaction previous[std::size(SIGNALS)];

// Where this OS thread goes on when guarded work touches memory that is not there. Reached without
// a call, as signal handlers must.
__thread sigjmp_buf *landing __attribute__((tls_model("initial-exec"))) = nullptr;

bool is_access(int signal) {
    return signal == SIGSEGV || signal == SIGBUS;
}

void pass_on(int signal, siginfo_t *info, void *context) {
    size_t i = 0;
    while (SIGNALS[i] != signal)
        i++;
    const struct sigaction &before = previous[i];
    if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        return before.sa_handler(signal);
    }
    const bool sent = info->si_code <= 0;
    if (sent && before.sa_handler == SIG_IGN) return;
    // A fault happens again on return, and then ends the process; a signal that was sent does not.
    sigaction(signal, &before, nullptr);
    if (sent) raise(signal);
}

SIMT_NO_ASAN void on_fault(int signal, siginfo_t *info, void *context) {
    Threadgroup *group = running;
    const bool sent = info->si_code <= 0;
    if (group == nullptr && landing != nullptr && is_access(signal) && !sent) {
        siglongjmp(*landing, 1);
    }
    if (group == nullptr || sent) return pass_on(signal, info, context);
    group->incident.kind = SIMT_FAULT_PAGE;
    group->incident.signal = signal;
    group->incident.code = info->si_code;
    group->incident.address = info->si_addr;
    fault_signal_leave(*group, context);
#if defined(__x86_64__)
    if (signal == SIGTRAP) group->registers.instruction--;  // stands behind the trap
#endif
}

void install() {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < std::size(SIGNALS); i++)
        sigaction(SIGNALS[i], &action, &previous[i]);
}

}  // namespace

void fault_signal_install() {
    static std::once_flag once;
    std::call_once(once, install);
}

void fault_signal_exempt(sigset_t &blocked) {
    for (int signal : SIGNALS)
        sigdelset(&blocked, signal);
    for (int signal : {SIGABRT, TIME_LIMIT_SIGNAL})
        sigdelset(&blocked, signal);
}

SIMT_NO_ASAN void fault_signal_leave(Threadgroup &group, void *context) {
    group.registers = machine_context_registers(context);
    sanitizer::leave_in_handler(group.main_stack);
    machine_context_continue(context, simt_fiber_continue, group.main);
}

bool fault_signal_guard(void (*work)(void *), void *context) {
    sigjmp_buf here;
    // Saving the mask would be a system call each time: instead it is put back after a fault.
    if (sigsetjmp(here, 0) == 0) {
        landing = &here;
        work(context);
        landing = nullptr;
        return true;
    }
    landing = nullptr;
    sigset_t accesses;
    sigemptyset(&accesses);
    for (int signal : SIGNALS)
        if (is_access(signal)) sigaddset(&accesses, signal);
    pthread_sigmask(SIG_UNBLOCK, &accesses, nullptr);
    return false;
}

SignalStack::SignalStack(char (&bytes)[SIGNAL_STACK_BYTES]) {
    stack_t present;
    sigaltstack(nullptr, &present);
    if (!(present.ss_flags & SS_DISABLE)) return;
    stack_t stack = {};
    stack.ss_sp = bytes;
    stack.ss_size = sizeof bytes;
    ours_ = sigaltstack(&stack, nullptr) == 0;
}

SignalStack::~SignalStack() {
    if (!ours_) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
}

}  // namespace simt
