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
    .cfi_return_column 96 // DWARF's place for it beside x30, which the caller may use
    stp x19, x30, [sp, #-16]!
    mov x19, x0
    // DW_CFA_def_cfa_expression: the stack pointer at [x19, #8]
    .cfi_escape 0x0f, 3, 0x83, 8, 0x06
    // DW_CFA_expression: the instruction and x19 to x30 lie at offsets from x19
    .cfi_escape 0x10, 96, 2, 0x83, 0
    .cfi_escape 0x10, 19, 2, 0x83, 16
    .cfi_escape 0x10, 20, 2, 0x83, 24
    .cfi_escape 0x10, 21, 2, 0x83, 32
    .cfi_escape 0x10, 22, 2, 0x83, 40
    .cfi_escape 0x10, 23, 2, 0x83, 48
    .cfi_escape 0x10, 24, 2, 0x83, 56
    .cfi_escape 0x10, 25, 3, 0x83, 0xc0, 0
    .cfi_escape 0x10, 26, 3, 0x83, 0xc8, 0
    .cfi_escape 0x10, 27, 3, 0x83, 0xd0, 0
    .cfi_escape 0x10, 28, 3, 0x83, 0xd8, 0
    .cfi_escape 0x10, 29, 3, 0x83, 0xe0, 0
    .cfi_escape 0x10, 30, 3, 0x83, 0xe8, 0
    mov x0, x1
    mov x1, x2
    bl _Unwind_Backtrace
    ldp x19, x30, [sp], #16
    ret
    .cfi_endproc
    .size simt_walk, . - simt_walk

    .section .note.GNU-stack, "", %progbits
