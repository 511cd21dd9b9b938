// Fibers: flows of execution that hand over to each other on one OS thread. Switched by
// hand-written assembly, since ucontext's swapcontext makes a system call for the signal mask at
// every switch.
#pragma once
#include <cstddef>

namespace simt {

// A suspended fiber is the stack pointer below which its registers lie.
using Suspended = void *;

// Makes the fiber that will call `main` on the stack that ends at `top` (a multiple of 16). Its
// frame lies below all that the fiber writes, so that the same fiber can be started again and
// again.
Suspended fiber_create(char *top, void (*main)());

}  // namespace simt

extern "C" {
// Stores the caller in `*from` and continues `to`. Callee-saved registers only: no kernel changes
// the floating-point modes, so all fibers of an OS thread share them.
void simt_fiber_switch(simt::Suspended *from, simt::Suspended to);
// Where a suspended fiber continues, with its stack pointer in place.
void simt_fiber_continue();
// The first instruction of a fiber.
void simt_fiber_start();
}
