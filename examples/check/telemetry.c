/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A telemetry server as devices have them: telemetry SEED LOAD [leak|keep].
 *
 * Sensors send messages, of each of which the last one is remembered; now and then all is
 * reported to clients, which come and go. LOAD, in percent, scales the numbers of all of these and
 * the length of a report. Two mistakes can be made in it:
 *
 *   leak   every other client that goes leaves its input behind
 *   keep   instead of copying a message into its sensor's slot, the message itself is kept: no more
 *          bytes are live, but blocks of all ages lie between the reports
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CYCLES = 60,
    SENSORS = 120,
    MESSAGES = 300, /* of a cycle, at most */
    CLIENTS = 8,
    REPORTS = 5,
    MOST = 1000, /* of each of these, whatever the load */
    LONGEST_VALUE = 64,
    LONGEST_REPORT = 5000
};

typedef struct {
    uint32_t sensor;
    uint32_t length;
    char value[];
} message;

typedef struct {
    char *filter;
    char *input;
    uint32_t leaves_at;
} client;

typedef enum { CLEAN, LEAK, KEEP } mistake;

typedef struct {
    mistake mistake;
    uint32_t load; /* percent */
    uint32_t cycle;
    char *slots[MOST];      /* last values, copied */
    message *kept[MOST];    /* or the messages themselves */
    message *waiting[MOST]; /* not yet looked at */
    uint32_t waiting_count;
    client *clients[MOST];
    char *reports[REPORTS];
} server;

static uint32_t state;

/* Park and Miller 1988. */
static uint32_t draw(uint32_t n) {
    state = (uint32_t)((uint64_t)state * 16807 % 2147483647);
    return state % n;
}

/* Inlined, so that each function that asks for memory is a call site of its own. */
static inline __attribute__((always_inline)) void *allocated(size_t size) {
    void *block = calloc(1, size);
    if (block == NULL) {
        exit(1);
    }
    return block;
}

static uint32_t scaled(const server *server, uint32_t count) {
    return count * server->load / 100;
}

static void start(server *server) {
    for (uint32_t i = 0; server->mistake != KEEP && i < scaled(server, SENSORS); i++) {
        server->slots[i] = allocated(sizeof(message) + LONGEST_VALUE);
    }
}

static void receive(server *server) {
    uint32_t length = LONGEST_VALUE - draw(16);
    message *message = allocated(sizeof(*message) + length);
    message->sensor = draw(scaled(server, SENSORS));
    message->length = length;
    server->waiting[server->waiting_count++] = message;
}

/* The last value of its sensor is the message's. */
static void take(server *server, message *message) {
    if (server->mistake == KEEP) {
        free(server->kept[message->sensor]);
        server->kept[message->sensor] = message;
        return;
    }
    memcpy(server->slots[message->sensor], message, sizeof(*message) + message->length);
    free(message);
}

/* Messages wait until all have come. */
static void collect(server *server) {
    uint32_t count = scaled(server, MESSAGES) - draw(20);
    while (server->waiting_count < count) {
        receive(server);
    }
    for (uint32_t i = 0; i < count; i++) {
        take(server, server->waiting[i]);
    }
    server->waiting_count = 0;
}

static void come(server *server, client **place) {
    *place = allocated(sizeof(**place));
    (*place)->filter = allocated(24 + draw(40));
    (*place)->input = allocated(512);
    (*place)->leaves_at = server->cycle + 1 + draw(10);
}

static void leave(server *server, client **place) {
    if (server->mistake != LEAK || draw(2) != 0) {
        free((*place)->input);
    }
    free((*place)->filter);
    free(*place);
    *place = NULL;
}

static void serve(server *server) {
    for (uint32_t i = 0; i < scaled(server, CLIENTS); i++) {
        client **place = &server->clients[i];
        if (*place == NULL && draw(2) == 0) {
            come(server, place);
        } else if (*place != NULL && (*place)->leaves_at <= server->cycle) {
            leave(server, place);
        }
    }
}

/* All reports are on their way before the first has arrived. */
static void send_reports(server *server) {
    for (uint32_t i = 0; i < REPORTS; i++) {
        server->reports[i] = allocated(scaled(server, LONGEST_REPORT - draw(500)));
    }
    for (uint32_t i = 0; i < REPORTS; i++) {
        free(server->reports[i]);
    }
}

int main(int argc, char **argv) {
    static server server;
    if (argc < 3) {
        fprintf(stderr, "telemetry SEED LOAD [leak|keep]\n");
        return 2;
    }
    state = (uint32_t)strtoul(argv[1], NULL, 10) % 2147483646 + 1;
    server.load = (uint32_t)strtoul(argv[2], NULL, 10);
    server.mistake = argc < 4 ? CLEAN : strcmp(argv[3], "leak") == 0 ? LEAK : KEEP;
    start(&server);
    for (; server.cycle < CYCLES; server.cycle++) {
        serve(&server);
        collect(&server);
        send_reports(&server);
    }
    return 0;
}
