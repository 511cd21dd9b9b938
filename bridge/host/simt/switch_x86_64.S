// System V: rbx, rbp, r12 to r15 and the stack pointer are the callee's to keep.
#include "frame.h"
    .text
    .globl simt_fiber_switch
    .hidden simt_fiber_switch
    .type simt_fiber_switch, @function
    .p2align 4
simt_fiber_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    .globl simt_fiber_continue
    .hidden simt_fiber_continue
    .type simt_fiber_continue, @function
simt_fiber_continue:
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size simt_fiber_switch, . - simt_fiber_switch

    .globl simt_fiber_start
    .hidden simt_fiber_start
    .type simt_fiber_start, @function
    .p2align 4
simt_fiber_start:
    .cfi_startproc
    .cfi_undefined %rip // the end of every backtrace
    subq $(FRAME_BYTES - 8), %rsp // keeps the frame for the next start
    callq *%r12
    ud2
    .cfi_endproc
    .size simt_fiber_start, . - simt_fiber_start

    .section .note.GNU-stack, "", @progbits
