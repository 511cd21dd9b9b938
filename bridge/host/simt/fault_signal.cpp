#include "fault_signal.h"
#include "threadgroup.h"
#include "time_limit.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <mutex>
#include <utility>

namespace simt {
namespace {

// The last two: traps that the compiler puts where it proved that nothing leads.
constexpr int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

// Whoever takes a signal over later, as Python's faulthandler does, may hand it back to the handler
// that it found, ours. So we come in front of it again with another handler: each knows the one
// that it stands before, and none gets a fault twice.
constexpr size_t MOST_HANDLERS = 8;
using Handler = void (*)(int, siginfo_t *, void *);
struct sigaction previous[MOST_HANDLERS][std::size(SIGNALS)];

// Where this OS thread goes on when guarded work touches memory that is not there. Reached without
// a call, as signal handlers must.
__thread sigjmp_buf *landing __attribute__((tls_model("initial-exec"))) = nullptr;

bool is_access(int signal) {
    return signal == SIGSEGV || signal == SIGBUS;
}

void pass_on(const struct sigaction &before, int signal, siginfo_t *info, void *context) {
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

size_t place_of(int signal) {
    size_t i = 0;
    while (SIGNALS[i] != signal)
        i++;
    return i;
}

template <size_t LEVEL> SIMT_NO_ASAN void on_fault(int signal, siginfo_t *info, void *context) {
    Threadgroup *group = running;
    const bool sent = info->si_code <= 0;
    if (group == nullptr && landing != nullptr && is_access(signal) && !sent) {
        siglongjmp(*landing, 1);
    }
    if (group == nullptr || sent) {
        return pass_on(previous[LEVEL][place_of(signal)], signal, info, context);
    }
    group->incident.kind = SIMT_FAULT_PAGE;
    group->incident.signal = signal;
    group->incident.code = info->si_code;
    group->incident.address = info->si_addr;
    fault_signal_leave(*group, context);
#if defined(__x86_64__)
    if (signal == SIGTRAP) group->registers.instruction--;  // stands behind the trap
#endif
}

template <size_t... LEVEL>
constexpr std::array<Handler, sizeof...(LEVEL)> all_handlers(std::index_sequence<LEVEL...>) {
    return {on_fault<LEVEL>...};
}
constexpr auto HANDLERS = all_handlers(std::make_index_sequence<MOST_HANDLERS>());

// Which of ours it is; MOST_HANDLERS: none.
size_t level_of(const struct sigaction &action) {
    if (!(action.sa_flags & SA_SIGINFO)) return MOST_HANDLERS;
    return size_t(std::find(HANDLERS.begin(), HANDLERS.end(), action.sa_sigaction) -
                  HANDLERS.begin());
}

// The next handler to put in front of others, by signal.
std::atomic<size_t> next_level[std::size(SIGNALS)];

void take_over(size_t place) {
    struct sigaction present;
    sigaction(SIGNALS[place], nullptr, &present);
    const size_t level = level_of(present);
    if (level < MOST_HANDLERS) {
        next_level[place] = level + 1;  // those before it have let go
        return;
    }
    if (next_level[place] == MOST_HANDLERS) return;
    struct sigaction ours = {};
    ours.sa_sigaction = HANDLERS[next_level[place]];
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    previous[next_level[place]][place] = present;
    sigaction(SIGNALS[place], &ours, nullptr);
    next_level[place]++;
}

}  // namespace

void fault_signal_install() {
    // Who takes over one of them, or lets go, does it with the first.
    struct sigaction present;
    sigaction(SIGNALS[0], nullptr, &present);
    if (level_of(present) + 1 == next_level[0]) return;
    static std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    for (size_t place = 0; place < std::size(SIGNALS); place++)
        take_over(place);
}

void fault_signal_install_now_and_then() {
    static std::atomic<int64_t> last{-1};
    timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const int64_t tick = int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
    if (last.exchange(tick, std::memory_order_relaxed) != tick) fault_signal_install();
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
