/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message broker, cut down to what it asks of its heap. Subscriptions stay, messages come and go,
 * and both are asked for where they are needed, in the same sizes: 40 B and a text. Now and then a
 * report of all subscriptions is made, in a buffer that grows. It knows nothing of heapfit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOPICS = 32, STEPS = 6000, MOST_QUEUED = 24, REPORT_EVERY = 500 };

struct subscription {
    struct subscription *next;
    char *filter;
    unsigned long matched, client, since;
};

struct message {
    char *text;
    struct message *next;
    unsigned long topic, step, copies;
};

static struct subscription *topics[TOPICS];
static struct message *first, **last = &first;
static unsigned queued;
static unsigned long seed = 1;

static unsigned drawn(unsigned below) {
    seed = seed * 1103515245 + 12345;
    return (unsigned)(seed >> 16) % below;
}

static void require(const void *block) {
    if (block == NULL) {
        puts("out of memory");
        exit(1);
    }
}

static void subscribe(unsigned topic, unsigned step) {
    struct subscription *made = calloc(1, sizeof(struct subscription));
    require(made);
    made->filter = malloc(16 + drawn(40));
    require(made->filter);
    snprintf(made->filter, 16, "sensor/%u/#", topic);
    made->since = step;
    made->next = topics[topic];
    topics[topic] = made;
}

static void publish(unsigned topic, unsigned step) {
    struct message *made = malloc(sizeof(struct message));
    require(made);
    *made = (struct message){.topic = topic, .step = step};
    made->text = malloc(16 + drawn(40));
    require(made->text);
    snprintf(made->text, 16, "%u %u", topic, step);
    *last = made;
    last = &made->next;
    queued++;
}

static void deliver(void) {
    struct message *done = first;
    for (struct subscription *one = topics[done->topic]; one != NULL; one = one->next) {
        one->matched++;
    }
    first = done->next;
    last = first == NULL ? &first : last;
    queued--;
    free(done->text);
    free(done);
}

static unsigned long report(void) {
    size_t used = 0, room = 64;
    char *text = malloc(room);
    require(text);
    for (unsigned topic = 0; topic < TOPICS; topic++) {
        for (const struct subscription *one = topics[topic]; one != NULL; one = one->next) {
            if (room - used < 32) {
                room *= 2;
                text = realloc(text, room);
                require(text);
            }
            used += (size_t)snprintf(text + used, 32, "%s %lu\n", one->filter, one->matched);
        }
    }
    free(text);
    return used;
}

int main(void) {
    unsigned long reported = 0;
    for (unsigned step = 1; step <= STEPS; step++) {
        publish(drawn(TOPICS), step);
        if (step % 40 == 0) {
            subscribe(drawn(TOPICS), step);
        }
        while (queued > drawn(MOST_QUEUED)) {
            deliver();
        }
        if (step % REPORT_EVERY == 0) {
            reported += report();
        }
    }
    printf("%lu B of reports\n", reported);
    return 0;
}
