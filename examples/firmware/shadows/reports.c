/* SPDX-License-Identifier: Apache-2.0 */
#include "reports.h"

#include "application/random.h"

enum {
    CHANGES_OF_1024 = 100, /* of so many ticks one has a device whose values change */
    WAKING_OF_1024 = 2,    /* or one that falls asleep or wakes */
    WHOLE_PERIOD = 1000,   /* ticks */
    MOST_CHANGES = 4,      /* values that change at once */
    LATE_OF_32 = 1         /* of so many answers one is late */
};

/* What a device may tell: a number from `least` to `most` thousandths, or one of four words. */
typedef struct value {
    const char *name;
    int32_t least, most;
    const char *words[4];
} value;

static const value values[] = {
    {.name = "temperature", .least = -10000, .most = 45000},
    {.name = "humidity", .least = 20000, .most = 95000},
    {.name = "pressure", .least = 970000, .most = 1040000},
    {.name = "co2", .least = 400000, .most = 2000000},
    {.name = "battery", .least = 3000, .most = 4200},
    {.name = "rssi", .least = -95000, .most = -40000},
    {.name = "light", .least = 0, .most = 900000},
    {.name = "noise", .least = 30000, .most = 90000},
    {.name = "setpoint", .least = 16000, .most = 25000},
    {.name = "mode", .words = {"auto", "eco", "off", "boost"}},
    {.name = "door", .words = {"open", "closed", "closed", "closed"}},
    {.name = "motion", .words = {"none", "none", "near", "inside"}},
    {.name = "alarm", .words = {"none", "none", "battery low", "sensor does not answer"}},
    {.name = "operator", .words = {"", "reception", "maintenance", "night guard"}},
};
enum { VALUES = sizeof values / sizeof values[0] };

static struct {
    uint32_t arrivals, answers; /* states of the two streams of random numbers */
    uint32_t awake;             /* a bit each device */
    uint32_t has[DEVICES];      /* a bit each value */
} world;

void reports_start(uint32_t seed) {
    world.arrivals = stream_of(seed);
    world.answers = ~world.arrivals | 1u;
    world.awake = draw_from(&world.arrivals);
    for (unsigned device = 0; device < DEVICES; device++) {
        world.has[device] = draw_from(&world.arrivals) | 1u;
    }
}

static bool is_drawn(uint32_t of_1024) {
    return draw_from(&world.arrivals) % 1024 < of_1024;
}

bool reports_next(uint32_t now, report *next) {
    if (is_drawn(WAKING_OF_1024)) {
        world.awake ^= 1u << draw_from(&world.arrivals) % DEVICES;
    }
    const bool is_whole = now % WHOLE_PERIOD < DEVICES;
    const bool is_change = is_drawn(CHANGES_OF_1024);
    const uint32_t drawn = draw_from(&world.arrivals) % DEVICES;
    const uint32_t device = is_whole ? now % WHOLE_PERIOD : drawn;
    *next = (report){draw_from(&world.arrivals), (uint8_t)device, is_whole};
    return (is_whole || is_change) && (world.awake >> device & 1u);
}

uint32_t reports_answer(void) {
    const bool is_late = draw_from(&world.answers) % 32 < LATE_OF_32;
    return is_late ? draw_between(&world.answers, 300, 800) : draw_between(&world.answers, 20, 120);
}

static void put_value(text *to, const value *told, uint32_t *content) {
    put_name(to, told->name);
    if (told->words[0]) {
        put_byte(to, '"');
        put_text(to, told->words[draw_from(content) % 4]);
        put_byte(to, '"');
    } else {
        const uint32_t range = (uint32_t)(told->most - told->least);
        put_thousandths(to, told->least + (int32_t)draw_between(content, 0, range));
    }
}

/* Of the device's values as many as `most`, from a drawn one on. */
static void put_values(text *to, uint32_t has, uint32_t most, uint32_t *content) {
    const uint32_t first = draw_from(content) % VALUES;
    bool is_first = true;
    for (unsigned i = 0; i < VALUES && most != 0; i++) {
        const unsigned index = (first + i) % VALUES;
        if (has >> index & 1u) {
            put_text(to, is_first ? "" : ",");
            put_value(to, &values[index], content);
            is_first = false;
            most--;
        }
    }
}

static void put_place(text *to, uint8_t device) {
    put_text(to, ",\"place\":{\"floor\":");
    put_thousandths(to, device / 5 * 1000);
    put_text(to, ",\"room\":\"B");
    put_thousandths(to, (200 + device) * 1000);
    put_text(to, "\"}");
}

void report_put(text *to, const report *of) {
    uint32_t content = of->content;
    const uint32_t few = draw_between(&content, 1, MOST_CHANGES);
    put_text(to, "{\"id\":");
    put_thousandths(to, of->device * 1000);
    put_text(to, ",\"state\":{");
    put_values(to, world.has[of->device], of->is_whole ? VALUES : few, &content);
    if (of->is_whole) {
        put_place(to, of->device);
    }
    put_text(to, "}}");
}
