/* SPDX-License-Identifier: Apache-2.0 */
#include "traffic.h"

#include "random.h"

enum {
    READINGS_OF_1024 = 320, /* of so many ticks one has a reading */
    REPORTS_OF_1024 = 60,
    BURSTS_OF_1024 = 2,
    SETTINGS_PERIOD = 1000 /* ticks */
};

static struct {
    uint32_t arrivals, answers; /* states of the two streams of random numbers */
    uint32_t told;              /* kinds that have been drawn in this tick */
    uint32_t tick;
    uint32_t burst_left; /* frames of a log */
    uint8_t burst_node;
} world;

static uint32_t draw(void) {
    return draw_from(&world.arrivals);
}

uint32_t traffic_answer(uint32_t least, uint32_t most) {
    return draw_between(&world.answers, least, most);
}

void traffic_start(uint32_t seed) {
    world.arrivals = stream_of(seed);
    world.answers = ~world.arrivals | 1u;
}

static int is_drawn(uint32_t of_1024) {
    return draw() % 1024 < of_1024;
}

static arrival arrival_of(frame_kind kind, uint32_t least, uint32_t most) {
    const uint32_t node = draw() % NODES;
    return (arrival){(uint8_t)kind, (uint8_t)node, (uint16_t)(least + draw() % (most - least + 1))};
}

static int log_arrives(arrival *next) {
    if (world.burst_left == 0 && is_drawn(BURSTS_OF_1024)) {
        world.burst_left = 6 + draw() % 15;
        world.burst_node = (uint8_t)(draw() % NODES);
    }
    if (world.burst_left == 0 || !is_drawn(512)) {
        return 0;
    }
    world.burst_left--;
    *next = (arrival){FRAME_LOG, world.burst_node, 416};
    return 1;
}

int traffic_next(uint32_t now, arrival *next) {
    if (world.tick != now) {
        world.tick = now;
        world.told = 0;
    }
    while (world.told < 4) {
        switch (world.told++) {
        case FRAME_READING:
            if (is_drawn(READINGS_OF_1024)) {
                *next = arrival_of(FRAME_READING, 19, 39);
                return 1;
            }
            break;
        case FRAME_REPORT:
            if (is_drawn(REPORTS_OF_1024)) {
                *next = arrival_of(FRAME_REPORT, 90, 380);
                return 1;
            }
            break;
        case FRAME_LOG:
            if (log_arrives(next)) {
                return 1;
            }
            break;
        default:
            if (now % SETTINGS_PERIOD == 0) {
                *next = arrival_of(FRAME_SETTINGS, 1400, 1460);
                return 1;
            }
        }
    }
    return 0;
}
