// _Unwind_Backtrace from where an OS thread was interrupted: this function's frame says that its
// caller's registers are those that `at` (MachineRegisters) points to.
    .text
    .globl simt_walk
    .hidden simt_walk
    .type simt_walk, @function
    .p2align 4
simt_walk:
    .cfi_startproc
    .cfi_signal_frame // the caller's address is that of the instruction itself
    pushq %rbx
    movq %rdi, %rbx
    // DW_CFA_def_cfa_expression: the stack pointer at 8(%rbx)
    .cfi_escape 0x0f, 3, 0x73, 8, 0x06
    // DW_CFA_expression: rip, rbx, rbp, r12 to r15 lie at offsets from %rbx
    .cfi_escape 0x10, 16, 2, 0x73, 0
    .cfi_escape 0x10, 3, 2, 0x73, 16
    .cfi_escape 0x10, 6, 2, 0x73, 24
    .cfi_escape 0x10, 12, 2, 0x73, 32
    .cfi_escape 0x10, 13, 2, 0x73, 40
    .cfi_escape 0x10, 14, 2, 0x73, 48
    .cfi_escape 0x10, 15, 2, 0x73, 56
    movq %rsi, %rdi
    movq %rdx, %rsi
    call _Unwind_Backtrace@PLT
    popq %rbx
    ret
    .cfi_endproc
    .size simt_walk, . - simt_walk

    .section .note.GNU-stack, "", @progbits
