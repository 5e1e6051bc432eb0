/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of counted_arm.S for RISC-V; "H" is in the heap's region, "K" on the stack. */
    .text
    .option norelax

    .macro function name
    .global \name
    .type \name, @function
\name:
    .endm

/* 1 instruction, nothing else. */
    function nothing
    ret
    .size nothing, . - nothing

/* 6 instructions, 1 load (H) and 1 store (H). */
    function one_word
    la a0, region               /* 2: no load */
    lw a1, 8(a0)                /* 1 L, H */
    addi a1, a1, 1              /* 1 */
    sw a1, 12(a0)               /* 1 S, H */
    ret                         /* 1 */
    .size one_word, . - one_word

/* 13 instructions of its own and 6 of one_word: 19. Loads: 2 H, 1 K, 1 in one_word (H): 4, 3 H.
 * Stores: 1 K, 2 H, 1 in one_word (H): 4, 3 H. 12 bytes of stack, of which the lowest word is
 * touched. */
    function calls_another
    addi sp, sp, -12            /* 1 */
    sw ra, 0(sp)                /* 1 S, K */
    la a0, region               /* 2 */
    lw a1, 0(a0)                /* 1 L, H */
    lw a2, 4(a0)                /* 1 L, H */
    sw a1, 8(a0)                /* 1 S, H */
    sw a2, 12(a0)               /* 1 S, H */
    jal one_word                /* 1 */
    beq zero, zero, 1f          /* 1: taken */
    lw a1, 0(a0)                /* 0 */
1:  lw ra, 0(sp)                /* 1 L, K */
    addi sp, sp, 12             /* 1 */
    ret                         /* 1 */
    .size calls_another, . - calls_another

/* 3 + 4 * 5 + 1 = 24 instructions, 5 loads of bytes (H). */
    function loops
    la a0, region               /* 2 */
    li a1, 5                    /* 1 */
1:  lbu a2, 0(a0)               /* 5 L, H */
    addi a0, a0, 1              /* 5 */
    addi a1, a1, -1             /* 5 */
    bnez a1, 1b                 /* 5 */
    ret                         /* 1 */
    .size loops, . - loops

/* 5 instructions, 1 load and 1 store, 4 bytes of stack. */
    function one_push
    addi sp, sp, -4             /* 1 */
    sw ra, 0(sp)                /* 1 S, K */
    lw ra, 0(sp)                /* 1 L, K */
    addi sp, sp, 4              /* 1 */
    ret                         /* 1 */
    .size one_push, . - one_push

/* Payload: 1 word copied in the region. 5 instructions, 1 load and 1 store of 4 bytes, all payload.
 */
    function image_copy
    la a0, region               /* 2 */
    lw a1, 0(a0)                /* 1 L */
    sw a1, 4(a0)                /* 1 S */
    ret                         /* 1 */
    .size image_copy, . - image_copy

/* Calls each: nothing twice, the others once, image_copy through a register. */
    function main
    addi sp, sp, -16
    sw ra, 0(sp)
    jal nothing
    jal nothing
    jal one_word
    jal calls_another
    jal loops
    jal one_push
    la a0, image_copy
    jalr a0
    li a0, 0
    lw ra, 0(sp)
    addi sp, sp, 16
    ret
    .size main, . - main

    .section .bss.region, "aw", @nobits
    .global region
    .balign 16
    .type region, @object
region:
    .space 64
    .size region, . - region
