// AAPCS64: x19 to x29, the low halves of v8 to v15 and the stack pointer are the callee's to keep.
#include "frame.h"
    .text
    .globl simt_fiber_switch
    .hidden simt_fiber_switch
    .type simt_fiber_switch, @function
    .p2align 4
simt_fiber_switch:
    stp x19, x20, [sp, #-FRAME_BYTES]!
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    .globl simt_fiber_continue
    .hidden simt_fiber_continue
    .type simt_fiber_continue, @function
simt_fiber_continue:
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    ldp x19, x20, [sp], #FRAME_BYTES
    ret
    .size simt_fiber_switch, . - simt_fiber_switch

    .globl simt_fiber_start
    .hidden simt_fiber_start
    .type simt_fiber_start, @function
    .p2align 4
simt_fiber_start:
    .cfi_startproc
    .cfi_undefined x30 // the end of every backtrace
    sub sp, sp, #FRAME_BYTES // keeps the frame for the next start
    blr x19
    brk #1
    .cfi_endproc
    .size simt_fiber_start, . - simt_fiber_start

    .section .note.GNU-stack, "", %progbits
