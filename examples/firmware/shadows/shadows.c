/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's report is received as text, parsed into a tree, and what is new in it is published,
 * and kept in the device's shadow: the tree of all that it told last. A publication is kept until
 * the server has it; shadows are written to storage in turn; who is silent is forgotten.
 */
#include "application/actors.h"
#include "application/gateway.h"
#include "freertos/FreeRTOS.h"
#include "json.h"
#include "reports.h"

enum {
    MAILBOX = 24,          /* messages, of each actor */
    MOST_UNDER_WAY = 24,   /* publications that the server does not have yet */
    SILENCE = 3000,        /* ticks without a word after which a device is forgotten */
    SNAPSHOT_PERIOD = 250, /* ticks from one shadow's to the next's */
    SNAPSHOT_WAIT = 12     /* ticks that the memory chip takes for one */
};

static struct {
    actor *parser, *keeper;
    json *shadows[DEVICES];
    uint32_t heard[DEVICES]; /* tick */
    uint32_t now, under_way, next_snapshot;
    gateway_counts counts;
} gateway;

/* NULL is counted: the caller does without. */
static void *counted(void *block) {
    gateway.counts.refused += !block;
    return block;
}

static void hand_on(actor *to, void *message, void (*give_up)(void *message)) {
    if (!actor_send(to, message)) {
        gateway.counts.dropped++;
        give_up(message);
    }
}

static void free_tree(void *given) {
    json_free(given);
}

/* A tree's text, in a block of its own. */
static char *text_of(const json *tree) {
    text sized = {.bytes = NULL};
    json_put(&sized, tree);
    text made = {.bytes = counted(pvPortMalloc(sized.length + 1))};
    if (made.bytes) {
        json_put(&made, tree);
        put_byte(&made, '\0');
    }
    return made.bytes;
}

/* The receiver and the parser: text, and a tree of it. */

static void receive(const report *told) {
    text sized = {.bytes = NULL};
    report_put(&sized, told);
    text received = {.bytes = counted(pvPortMalloc(sized.length + 1))};
    if (received.bytes) {
        report_put(&received, told);
        put_byte(&received, '\0');
        hand_on(gateway.parser, received.bytes, vPortFree);
    }
}

static void parse(void *message) {
    json *const tree = counted(json_parse(message));
    vPortFree(message);
    if (tree) {
        hand_on(gateway.keeper, tree, free_tree);
    }
}

/* The publisher: text on its way to the server. */

static void acknowledge(void *argument) {
    gateway.under_way--;
    gateway.counts.batches++;
    vPortFree(argument);
}

static void publish(const json *news) {
    if (gateway.under_way == MOST_UNDER_WAY) {
        gateway.counts.dropped++;
        return;
    }
    char *const sent = text_of(news);
    if (sent) {
        gateway.under_way++;
        if (!call_after(reports_answer(), acknowledge, sent)) {
            gateway.counts.refused++;
            acknowledge(sent);
        }
    }
}

/* The keeper: shadows. */

static void forget_the_silent(void) {
    for (size_t device = 0; device < DEVICES; device++) {
        if (gateway.shadows[device] && gateway.now - gateway.heard[device] >= SILENCE) {
            json_free(gateway.shadows[device]);
            gateway.shadows[device] = NULL;
        }
    }
}

static json *shadow_of(size_t device) {
    if (!gateway.shadows[device]) {
        gateway.shadows[device] = counted(json_parse("{}"));
    }
    gateway.heard[device] = gateway.now;
    return gateway.shadows[device];
}

static void free_what_is_known(json *state, json *shadow) {
    for (json **at = &state->child; *at;) {
        json *const told = *at;
        const json *const known = *json_find(shadow, told->name);
        if (known && json_is_same(known, told)) {
            *at = told->next;
            json_free(told);
        } else {
            at = &told->next;
        }
    }
}

static void move_values(json *state, json *shadow) {
    while (state->child) {
        json *const moved = state->child;
        state->child = moved->next;
        json **const place = json_find(shadow, moved->name);
        json *const old = *place;
        moved->next = old ? old->next : NULL;
        *place = moved;
        json_free(old);
    }
}

static void keep(void *message) {
    json *const tree = message;
    json *const state = *json_find(tree, "state");
    const int32_t device = (*json_find(tree, "id"))->thousandths / 1000;
    forget_the_silent();
    json *const shadow = shadow_of((size_t)device);
    if (shadow) {
        free_what_is_known(state, shadow);
        if (state->child) {
            publish(tree);
            move_values(state, shadow);
        }
    }
    json_free(tree);
}

/* The storage: a shadow's text, until it is written. */

static void end_write(void *argument) {
    gateway.counts.pages++;
    vPortFree(argument);
}

static void write_snapshot(void *unused) {
    (void)unused;
    const json *const shadow = gateway.shadows[gateway.next_snapshot++ % DEVICES];
    char *const written = shadow ? text_of(shadow) : NULL;
    if (written && !call_after(SNAPSHOT_WAIT, end_write, written)) {
        gateway.counts.refused++;
        end_write(written);
    }
    gateway.counts.refused += !call_after(SNAPSHOT_PERIOD, write_snapshot, NULL);
}

bool gateway_create(uint32_t seed) {
    reports_start(seed);
    gateway.parser = actor_create(parse, 2, MAILBOX, 1024);
    gateway.keeper = actor_create(keep, 1, MAILBOX, 1024);
    return gateway.parser && gateway.keeper && call_after(SNAPSHOT_PERIOD, write_snapshot, NULL);
}

/* There is no interrupt: one loop calls this and the actors. */
void gateway_tick(uint32_t now) {
    gateway.now = now;
    report next;
    if (reports_next(now, &next)) {
        gateway.counts.frames++;
        receive(&next);
    }
}

gateway_counts gateway_counted(void) {
    return gateway.counts;
}
