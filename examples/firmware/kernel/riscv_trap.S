/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trap leaves the task's registers on its stack, and goes on on one of its own:
 *
 *   | ra | t0 to t6 | a0 to a7 | s0 to s11 | mepc | mstatus | 2 words unused |
 */
.macro each_register move
    \move ra, 0(sp)
    \move t0, 4(sp)
    \move t1, 8(sp)
    \move t2, 12(sp)
    \move t3, 16(sp)
    \move t4, 20(sp)
    \move t5, 24(sp)
    \move t6, 28(sp)
    \move a0, 32(sp)
    \move a1, 36(sp)
    \move a2, 40(sp)
    \move a3, 44(sp)
    \move a4, 48(sp)
    \move a5, 52(sp)
    \move a6, 56(sp)
    \move a7, 60(sp)
    \move s0, 64(sp)
    \move s1, 68(sp)
    \move s2, 72(sp)
    \move s3, 76(sp)
    \move s4, 80(sp)
    \move s5, 84(sp)
    \move s6, 88(sp)
    \move s7, 92(sp)
    \move s8, 96(sp)
    \move s9, 100(sp)
    \move s10, 104(sp)
    \move s11, 108(sp)
.endm

    .section .text.trapped, "ax"
    .globl trapped
    .align 2
trapped:
    addi sp, sp, -128
    each_register sw
    csrr t0, mepc
    sw t0, 112(sp)
    csrr t0, mstatus
    sw t0, 116(sp)
    mv a0, sp
    csrr a1, mcause
    la sp, trap_stack + 1024
    call on_trap
    mv sp, a0
    lw t0, 112(sp)
    csrw mepc, t0
    lw t0, 116(sp)
    csrw mstatus, t0
    each_register lw
    addi sp, sp, 128
    mret
