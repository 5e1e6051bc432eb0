/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame is received into a buffer, parsed into a record, and goes by the router to the uplink,
 * which sends batches and keeps them until they are acknowledged, or to the storage, which fills
 * pages. A node has a session while it is heard; the console tells of all that once a while.
 */
#include "gateway.h"

#include "actors.h"
#include "freertos/FreeRTOS.h"
#include "traffic.h"

#include <stddef.h>

enum {
    FIFO_FRAMES = 32,      /* of the receiver's hardware */
    BATCH_RECORDS = 8,     /* that the uplink sends at once */
    BATCH_WAIT = 40,       /* ticks that it waits for them */
    BATCHES_UNDER_WAY = 5, /* that are not acknowledged */
    PAGE_BYTES = 512,      /* of the storage */
    PAGE_WAIT = 12,        /* ticks that the memory chip takes for one */
    SESSION_WAIT = 60,     /* ticks without a word that end one */
    CONSOLE_PERIOD = 25,   /* ticks */
    WORK_ON_A_BYTE = 7     /* rounds: what deciphering costs */
};

typedef struct frame {
    arrival about;
    uint8_t payload[];
} frame;

typedef struct record {
    struct record *next;
    arrival about;
    uint8_t *payload;
    uint8_t values[124];
} record;

typedef struct batch {
    struct batch *next;
    uint32_t sum;
    size_t length;
    uint8_t bytes[];
} batch;

typedef struct session {
    uint32_t heard;
    uint32_t frames;
    uint8_t state[240];
} session;

typedef struct page {
    size_t filled;
    uint8_t bytes[PAGE_BYTES];
} page;

static struct {
    actor *receiver, *parser, *router, *uplink, *storage, *console;
    arrival fifo[FIFO_FRAMES];
    uint32_t arrived;
    session *sessions[NODES];
    record *waiting; /* for the next batch, last come first */
    uint32_t waiting_records, under_way;
    page *open_page;
    uint32_t checksum, now;
    gateway_counts counts;
} gateway;

/* NULL is counted: the caller does without. */
static void *request(size_t size) {
    void *const block = pvPortMalloc(size);
    if (!block) {
        gateway.counts.refused++;
    }
    return block;
}

static void hand_on(actor *to, void *message, void (*give_up)(void *message)) {
    if (!actor_send(to, message)) {
        gateway.counts.dropped++;
        give_up(message);
    }
}

/* What deciphering, checking and packing take of the processor. */
static uint32_t work_on(const uint8_t *bytes, size_t count) {
    uint32_t sum = 1;
    for (size_t i = 0; i < count; i++) {
        for (unsigned round = 0; round < WORK_ON_A_BYTE; round++) {
            sum = sum * 33 + (bytes[i] ^ round);
        }
    }
    return sum;
}

static void fill(uint8_t *bytes, size_t count, uint8_t with) {
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(with + i);
    }
}

static void free_record(void *given) {
    record *const freed = given;
    vPortFree(freed->payload);
    vPortFree(freed);
}

/* The receiver: out of the hardware's FIFO into a buffer. */

static void receive(void *message) {
    const arrival about = *(const arrival *)message;
    frame *const received = request(sizeof *received + about.length);
    if (received) {
        received->about = about;
        fill(received->payload, about.length, about.node);
        hand_on(gateway.parser, received, vPortFree);
    }
}

/* The parser: a record of a frame. */

static uint8_t *copy_of(const uint8_t *bytes, size_t count) {
    uint8_t *const copy = request(count);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = bytes[i];
    }
    return copy;
}

static record *record_of(const frame *parsed) {
    record *const made = request(sizeof *made);
    if (!made) {
        return NULL;
    }
    *made = (record){.about = parsed->about};
    made->payload = copy_of(parsed->payload, parsed->about.length);
    if (!made->payload) {
        vPortFree(made);
        return NULL;
    }
    return made;
}

static void parse(void *message) {
    frame *const parsed = message;
    gateway.checksum += work_on(parsed->payload, parsed->about.length);
    record *const made = record_of(parsed);
    vPortFree(parsed);
    if (made) {
        hand_on(gateway.router, made, free_record);
    }
}

/* The router: sessions, and which way a record goes. */

static void end_silent_sessions(void) {
    for (size_t node = 0; node < NODES; node++) {
        session *const silent = gateway.sessions[node];
        if (silent && gateway.now - silent->heard >= SESSION_WAIT) {
            gateway.sessions[node] = NULL;
            vPortFree(silent);
        }
    }
}

static void hear(uint8_t node) {
    session *heard = gateway.sessions[node];
    if (!heard) {
        heard = request(sizeof *heard);
        if (!heard) {
            return;
        }
        *heard = (session){.frames = 0};
        gateway.sessions[node] = heard;
    }
    heard->heard = gateway.now;
    heard->frames++;
}

static void route(void *message) {
    record *const routed = message;
    end_silent_sessions();
    hear(routed->about.node);
    const bool is_kept = routed->about.kind == FRAME_LOG || routed->about.kind == FRAME_SETTINGS;
    hand_on(is_kept ? gateway.storage : gateway.uplink, routed, free_record);
}

/* The uplink: batches, each kept until it is acknowledged. */

static void acknowledge(void *argument) {
    gateway.under_way--;
    gateway.counts.batches++;
    vPortFree(argument);
}

/* One of sixteen is lost and sent again. */
static void await_answer(void *argument) {
    const bool is_lost = traffic_answer(0, 15) == 0;
    if (!call_after(traffic_answer(8, 30), is_lost ? await_answer : acknowledge, argument)) {
        acknowledge(argument);
    }
}

static size_t batch_length(void) {
    size_t length = 0;
    for (const record *at = gateway.waiting; at; at = at->next) {
        length += 16 + at->about.length / 2u;
    }
    return length;
}

static void send_batch(void) {
    const size_t length = batch_length();
    batch *const made = request(sizeof *made + length);
    while (gateway.waiting) {
        record *const sent = gateway.waiting;
        gateway.waiting = sent->next;
        free_record(sent);
    }
    gateway.waiting_records = 0;
    if (made) {
        made->length = length;
        fill(made->bytes, length, 0x5a);
        made->sum = work_on(made->bytes, length / 4);
        gateway.under_way++;
        await_answer(made);
    }
}

static record overdue; /* no record: tells the uplink to wait no longer */

static void wait_no_longer(void *unused) {
    (void)unused;
    (void)actor_send(gateway.uplink, &overdue);
}

static void take_up(void *message) {
    if (message != &overdue) {
        record *const taken = message;
        taken->next = gateway.waiting;
        gateway.waiting = taken;
        if (++gateway.waiting_records == 1) {
            (void)call_after(BATCH_WAIT, wait_no_longer, NULL);
        }
    }
    const bool is_due = message == &overdue || gateway.waiting_records >= BATCH_RECORDS;
    if (is_due && gateway.waiting && gateway.under_way < BATCHES_UNDER_WAY) {
        send_batch();
    }
}

/* The storage: pages, written one after the other. */

static void end_write(void *argument) {
    gateway.counts.pages++;
    vPortFree(argument);
}

static void write_page(page *filled) {
    if (!call_after(PAGE_WAIT, end_write, filled)) {
        end_write(filled);
    }
}

static void put_byte(uint8_t byte) {
    page *const open = gateway.open_page;
    open->bytes[open->filled++] = byte;
    if (open->filled == PAGE_BYTES) {
        gateway.open_page = NULL;
        write_page(open);
    }
}

static void store(void *message) {
    record *const stored = message;
    for (size_t i = 0; i < stored->about.length; i++) {
        if (!gateway.open_page) {
            gateway.open_page = request(sizeof *gateway.open_page);
            if (!gateway.open_page) {
                break;
            }
            gateway.open_page->filled = 0;
        }
        put_byte(stored->payload[i]);
    }
    free_record(stored);
}

/* The console: lines of text of what there is. */

static void print_line(void *message) {
    uint8_t *const line = message;
    gateway.checksum += work_on(line, 24);
    vPortFree(line);
}

static void tell_console(void *unused) {
    (void)unused;
    for (size_t node = 0; node < NODES; node += 4) {
        const size_t length = 24 + (gateway.sessions[node] ? gateway.counts.frames % 40 : 0);
        uint8_t *const line = request(length);
        if (line) {
            fill(line, length, ' ');
            hand_on(gateway.console, line, vPortFree);
        }
    }
    (void)call_after(CONSOLE_PERIOD, tell_console, NULL);
}

bool gateway_create(uint32_t seed) {
    traffic_start(seed);
    gateway.receiver = actor_create(receive, 6, FIFO_FRAMES, 640);
    gateway.parser = actor_create(parse, 5, 16, 768);
    gateway.router = actor_create(route, 4, 16, 640);
    gateway.uplink = actor_create(take_up, 3, 12, 1024);
    gateway.storage = actor_create(store, 2, 16, 768);
    gateway.console = actor_create(print_line, 1, 16, 640);
    return gateway.receiver && gateway.parser && gateway.router && gateway.uplink &&
           gateway.storage && gateway.console && call_after(CONSOLE_PERIOD, tell_console, NULL);
}

/* In the interrupt: the hardware's FIFO has a place for each that waits. */
void gateway_tick(uint32_t now) {
    gateway.now = now;
    arrival next;
    while (traffic_next(now, &next)) {
        arrival *const place = &gateway.fifo[gateway.arrived++ % FIFO_FRAMES];
        gateway.counts.frames++;
        *place = next;
        if (!actor_send(gateway.receiver, place)) {
            gateway.counts.dropped++;
        }
    }
}

gateway_counts gateway_counted(void) {
    return gateway.counts;
}
