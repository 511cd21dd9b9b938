// Where an interrupted OS thread continues when its signal handler returns.
#pragma once
#include <cstdint>
#include <ucontext.h>

namespace simt {

inline void machine_context_continue(void *context, void (*code)(), void *stack_pointer) {
    mcontext_t &machine = static_cast<ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    machine.gregs[REG_RIP] = reinterpret_cast<greg_t>(code);
    machine.gregs[REG_RSP] = reinterpret_cast<greg_t>(stack_pointer);
#elif defined(__aarch64__)
    machine.pc = reinterpret_cast<uint64_t>(code);
    machine.sp = reinterpret_cast<uint64_t>(stack_pointer);
#endif
}

}  // namespace simt
