/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gateway: three threads receive messages of many sizes, keep each in a block of k_malloc, and
 * one thread forwards them by their due time. What a run asks depends on SEED.
 */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#define MESSAGES 1000 /* of each receiver */

struct message {
    void *fifo_reserved;
    uint32_t due; /* milliseconds since the start */
    uint8_t text[];
};

static K_FIFO_DEFINE(waiting);
static atomic_t refused;
static atomic_t ended;

static uint32_t draw(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Mostly short readings, sometimes a report or a part of an image. */
static size_t draw_size(uint32_t *state) {
    const uint32_t kind = draw(state) % 16u;
    return kind < 12u ? 12u + draw(state) % 28u : kind < 15u ? 80u + draw(state) % 160u : 1024u;
}

static void receive(void *number, void *unused1, void *unused2) {
    uint32_t state = (SEED)*8191u + (uint32_t)(uintptr_t)number;
    ARG_UNUSED(unused1);
    ARG_UNUSED(unused2);
    for (int i = 0; i < MESSAGES; i++) {
        struct message *message = k_malloc(sizeof *message + draw_size(&state));
        if (message == NULL) {
            atomic_inc(&refused);
        } else {
            message->due = k_uptime_get_32() + draw(&state) % 60u;
            k_fifo_put(&waiting, message);
        }
        k_msleep(1 + (int32_t)(draw(&state) % 14u));
    }
    atomic_inc(&ended);
}

K_THREAD_DEFINE(sensors, 1024, receive, (void *)1, NULL, NULL, 5, 0, 0);
K_THREAD_DEFINE(radio, 1024, receive, (void *)2, NULL, NULL, 5, 0, 0);
K_THREAD_DEFINE(camera, 1024, receive, (void *)3, NULL, NULL, 5, 0, 0);

int main(void) {
    while (atomic_get(&ended) < 3 || !k_fifo_is_empty(&waiting)) {
        struct message *message = k_fifo_get(&waiting, K_MSEC(100));
        if (message != NULL) {
            if ((int32_t)(message->due - k_uptime_get_32()) > 0) {
                k_sleep(K_TIMEOUT_ABS_MS(message->due));
            }
            k_free(message);
        }
    }
    k_msleep(1500); /* the recorder's thread sends the rest */
    printk("\nrefused %ld\n", (long)atomic_get(&refused));
    return 0;
}
