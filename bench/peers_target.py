# SPDX-License-Identifier: Apache-2.0
"""Real allocators on a Cortex-M4 and their code, measured in 2026.

Instructions are exact, counted under emulation, gcc 12.2 -O2, on the synthetic traces of
HEAPFIT_CORPUS: worst call of alloc and of free. Code is of malloc, free and init, linked, gcc -Os,
asserts off. Versions: mattconte's TLSF deff9ab, github.com/espressif/tlsf, o1heap v2.2, FreeRTOS
heap_4 4269c69, dlmalloc 2.8.6, newlib-nano 3.3.0, Zephyr sys_heap of v2.5.
"""

WORST = {
    "dlmalloc": {
        "slotbuf_100k": (320, 251),
        "t2_w2": (273, 237),
        "t2_w4": (286, 226),
        "queue_slide": (237, 172),
        "poisson_500": (364, 260),
    },
    "freertos_heap4": {
        "slotbuf_100k": (465, 274),
        "t2_w2": (152, 101),
        "t2_w4": (166, 101),
        "queue_slide": (94, 65),
        "poisson_500": (1851, 1050),
    },
    "newlib_nano": {
        "slotbuf_100k": (508, 436),
        "t2_w2": (132, 118),
        "t2_w4": (139, 126),
        "queue_slide": (368, 316),
        "poisson_500": (1894, 1619),
    },
    "o1heap": {
        "slotbuf_100k": (95, 93),
        "t2_w2": (94, 93),
        "t2_w4": (94, 93),
        "queue_slide": (94, 90),
        "poisson_500": (94, 90),
    },
    "tlsf_espressif": {
        "slotbuf_100k": (193, 192),
        "t2_w2": (193, 192),
        "t2_w4": (193, 192),
        "queue_slide": (193, 192),
        "poisson_500": (193, 187),
    },
    "tlsf_mattconte": {
        "slotbuf_100k": (186, 163),
        "t2_w2": (186, 163),
        "t2_w4": (186, 163),
        "queue_slide": (186, 163),
        "poisson_500": (186, 163),
    },
    "zephyr_sysheap": {
        "slotbuf_100k": (208, 211),
        "t2_w2": (208, 211),
        "t2_w4": (208, 211),
        "queue_slide": (203, 206),
        "poisson_500": (207, 219),
    },
}

CODE = {
    "tlsf_mattconte": 1163,
    "tlsf_espressif": 1927,
    "o1heap": 692,
    "freertos_heap4": 484,
    "dlmalloc": 3464,
    "zephyr_sysheap": 1194,
    "newlib_nano": 388,
}

# Bytes of the smallest arena that serves a block of 8 B.
SMALLEST = {
    "tlsf_mattconte": 3264,
    "tlsf_espressif": 264,
    "o1heap": 200,
    "newlib_nano": 80,
    "zephyr_sysheap": 528,
}
