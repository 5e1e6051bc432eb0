/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions whose instructions, loads and stores are counted by hand: beside each line stands how
 * often it runs and what it loads (L) and stores (S); "H" is in the heap's region, "K" on the stack.
 */
    .syntax unified
    .thumb
    .text

    .macro function name
    .global \name
    .type \name, %function
    .thumb_func
\name:
    .endm

/* 1 instruction, nothing else. */
    function nothing
    bx lr
    .size nothing, . - nothing

/* 5 instructions, 2 loads (1 H) and 1 store (1 H). */
    function one_word
    ldr r0, =region             /* 1 L: from the literal pool */
    ldr r1, [r0, #8]            /* 1 L, H */
    adds r1, #1                 /* 1 */
    str r1, [r0, #12]           /* 1 S, H */
    bx lr                       /* 1 */
    .ltorg
    .size one_word, . - one_word

/* 10 instructions of its own and 5 of one_word, called once: 15. Loads: 3 by pop, 1 of the literal
 * pool, 2 by ldmia (H), 2 in one_word (1 H): 8, 3 H. Stores: 3 by push (K), 2 by stmia (H), 1 in
 * one_word (H): 6, 3 H. 12 bytes of stack. */
    function calls_another
    push {r4, r5, lr}           /* 1 S S S, K */
    ldr r4, =region             /* 1 L */
    ldmia r4!, {r0, r1}         /* 1 L L, H */
    stmia r4!, {r0, r1}         /* 1 S S, H */
    bl one_word                 /* 1 */
    movs r0, #0                 /* 1 */
    cmp r0, #0                  /* 1 */
    beq 1f                      /* 1: taken */
    ldr r5, [r4]                /* 0 */
1:  nop                         /* 1 */
    pop {r4, r5, pc}            /* 1 L L L */
    .ltorg
    .size calls_another, . - calls_another

/* 3 + 4 * 5 + 1 = 24 instructions, 5 loads of bytes (H) and 1 of the literal pool. */
    function loops
    ldr r0, =region             /* 1 L */
    movs r1, #5                 /* 1 */
    movs r3, #0                 /* 1 */
1:  ldrb r2, [r0, r3]           /* 5 L, H */
    adds r3, #1                 /* 5 */
    subs r1, #1                 /* 5 */
    bne 1b                      /* 5 */
    bx lr                       /* 1 */
    .ltorg
    .size loops, . - loops

/* 2 instructions, 1 load and 1 store, 4 bytes of stack. */
    function one_push
    push {lr}                   /* 1 S, K */
    pop {pc}                    /* 1 L */
    .size one_push, . - one_push

/* Payload: 1 word copied in the region. 5 instructions, 2 loads, 1 of the region which is payload,
 * 1 store of 4 bytes of payload. */
    function image_copy
    ldr r0, =region             /* 1 L */
    ldr r1, [r0]                /* 1 L */
    str r1, [r0, #4]            /* 1 S */
    nop                         /* 1 */
    bx lr                       /* 1 */
    .ltorg
    .size image_copy, . - image_copy

/* Calls each: nothing twice, the others once, image_copy through a register. */
    function main
    push {r4, lr}
    bl nothing
    bl nothing
    bl one_word
    bl calls_another
    bl loops
    bl one_push
    ldr r4, =image_copy
    blx r4
    movs r0, #0
    pop {r4, pc}
    .ltorg
    .size main, . - main

    .section .bss.region, "aw", %nobits
    .global region
    .balign 16
    .type region, %object
region:
    .space 64
    .size region, . - region
