// What an interrupted OS thread was doing, and where it continues when its signal handler returns.
#pragma once
#include <cstdint>
#include <cstring>
#include <ucontext.h>

namespace simt {

// Those that a caller's frames can be found with. `walk_*.S` knows the order.
struct MachineRegisters {
    uint64_t instruction, stack_pointer;
#if defined(__x86_64__)
    uint64_t callee_saved[6];  // rbx, rbp, r12 to r15
#elif defined(__aarch64__)
    uint64_t callee_saved[12];  // x19 to x30, the return address last
#endif
};

inline MachineRegisters machine_context_registers(const void *context) {
    const mcontext_t &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    const greg_t *all = machine.gregs;
    const greg_t kept[] = {all[REG_RIP], all[REG_RSP], all[REG_RBX], all[REG_RBP],
                           all[REG_R12], all[REG_R13], all[REG_R14], all[REG_R15]};
    MachineRegisters registers;
    static_assert(sizeof registers == sizeof kept);
    memcpy(&registers, kept, sizeof kept);
#elif defined(__aarch64__)
    MachineRegisters registers = {machine.pc, machine.sp, {}};
    memcpy(registers.callee_saved, &machine.regs[19], sizeof registers.callee_saved);
#endif
    return registers;
}

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
