/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of Zephyr's that sends frames to a UART, each 5 ms, and each second the frame that is
 * not full yet. The build names the recorder: HFIT_DRAINED. What others print in the middle of a
 * frame damages it, and its events count as lost; the devicetree's chosen heapfit,uart is a UART
 * for the recording alone.
 */
#include "record.h"
#include "sinks/sinks.h"

#include <zephyr/drivers/uart.h>
#include <zephyr/kernel.h>

#if DT_HAS_CHOSEN(heapfit_uart)
#define UART DEVICE_DT_GET(DT_CHOSEN(heapfit_uart))
#else
#define UART DEVICE_DT_GET(DT_CHOSEN(zephyr_console))
#endif

extern hfit_recorder HFIT_DRAINED;

static int send_byte(int byte) {
    uart_poll_out(UART, (unsigned char)byte);
    return byte;
}

static void drain(void *unused1, void *unused2, void *unused3) {
    hfit_character_sink uart = {.put = send_byte};
    (void)unused1;
    (void)unused2;
    (void)unused3;
    for (unsigned int i = 1;; i++) {
        k_msleep(5);
        if (i % 200 == 0) {
            hfit_record_close_frame(&HFIT_DRAINED);
        }
        (void)hfit_record_drain(&HFIT_DRAINED, hfit_record_to_characters, &uart);
    }
}

K_THREAD_DEFINE(hfit_record_thread, 1024, drain, NULL, NULL, NULL, K_LOWEST_APPLICATION_THREAD_PRIO,
                0, 0);
