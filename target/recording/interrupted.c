/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a program and of an interrupt that comes in the middle of them, in one recorder:
 *
 *   program     alloc A0, free A0, alloc A1, free A1, ...       EVENTS of each
 *   SysTick     alloc B0, free B0, alloc B1, ...                until the program is done
 *
 * The sizes count up, so that the host sees that none is lost, twice or out of order. Prints how
 * many events the interrupt made. Built with unlocked_config.h, nothing keeps the interrupt out.
 */
#include <FreeRTOS.h>
#include <task.h>

#include "board/semihost.h"
#include "board/start.h"
#include "recorder/target/adapters/one_heap.h"
#include "recorder/target/sinks/sinks.h"

enum { EVENTS = 4000, PERIOD = 5003, ON = 7 };

#define SYSTICK ((volatile uint32_t *)0xe000e010) /* control, reload, value */
#define SYSTICK_PRIORITY (*(volatile uint8_t *)0xe000ed23)

static const char *const program_block = (const char *)0x30000000; /* nothing is there */
static const char *const interrupt_block = (const char *)0x30100000;
static volatile uint32_t interrupts;

TickType_t xTaskGetTickCountFromISR(void) {
    return interrupts;
}

static void record(const char *block, uint32_t number) {
    if (number % 2 == 0) {
        hfit_record_alloc(&hfit_one_heap, block, number / 2);
    } else {
        hfit_record_free(&hfit_one_heap, block);
    }
}

void on_tick(void) {
    record(interrupt_block, interrupts);
    interrupts++;
}

int main(void) {
    SYSTICK_PRIORITY = 0xff; /* what the lock masks */
    SYSTICK[1] = PERIOD;
    SYSTICK[2] = 0;
    SYSTICK[0] = ON;
    for (uint32_t i = 0; i < EVENTS; i++) {
        record(program_block, i);
        (void)hfit_record_drain(&hfit_one_heap, hfit_record_to_semihosting, NULL);
    }
    SYSTICK[0] = 0;
    hfit_record_close_frame(&hfit_one_heap);
    semihost_print_count("interrupts", interrupts);
    return hfit_record_drain(&hfit_one_heap, hfit_record_to_semihosting, NULL) ? 0 : 1;
}
