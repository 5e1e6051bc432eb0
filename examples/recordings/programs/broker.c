/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message broker in one process: broker SEED STEPS CLIENTS LONGEST
 * Clients subscribe to topics, publish to them, read late and come and go. A message is one block
 * for all who wait for it, with a count of them.
 *
 *   topic -> retained message          client -> queue of links -> message
 *         -> subscriptions -> client
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOPICS = 48, MOST_CLIENTS = 256, MOST_WAITING = 40 };

struct message {
    unsigned holders;
    size_t length;
    char text[];
};

struct link {
    struct link *next;
    struct message *message;
};

struct subscription {
    struct subscription *next;
    int client;
};

struct client {
    char *name;
    struct link *first, *last;
    int waiting;
};

static struct {
    struct message *retained;
    struct subscription *subscriptions;
} topics[TOPICS];

static struct client *clients[MOST_CLIENTS];
static uint32_t state;

static uint32_t drawn(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

static void *block(size_t size) {
    void *made = malloc(size);
    if (made == NULL) {
        exit(1);
    }
    return made;
}

static void let_go(struct message *message) {
    if (message != NULL && --message->holders == 0) {
        free(message);
    }
}

static void read_one(struct client *client) {
    struct link *link = client->first;
    client->first = link->next;
    client->waiting--;
    let_go(link->message);
    free(link);
}

static void connect_client(int number) {
    struct client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        exit(1);
    }
    size_t length = 4 + drawn(20);
    client->name = block(length + 1);
    memset(client->name, 'n', length);
    client->name[length] = 0;
    clients[number] = client;
    for (uint32_t left = 1 + drawn(5); left > 0; left--) {
        struct subscription *one = block(sizeof *one);
        uint32_t topic = drawn(TOPICS);
        *one = (struct subscription){topics[topic].subscriptions, number};
        topics[topic].subscriptions = one;
    }
}

static void unsubscribe(int number) {
    for (int topic = 0; topic < TOPICS; topic++) {
        struct subscription **at = &topics[topic].subscriptions;
        while (*at != NULL) {
            struct subscription *one = *at;
            if (one->client == number) {
                *at = one->next;
                free(one);
            } else {
                at = &one->next;
            }
        }
    }
}

static void disconnect(int number) {
    struct client *client = clients[number];
    unsubscribe(number);
    while (client->waiting > 0) {
        read_one(client);
    }
    free(client->name);
    free(client);
    clients[number] = NULL;
}

static void hand_on(struct client *client, struct message *message) {
    if (client->waiting == MOST_WAITING) {
        return;
    }
    struct link *link = block(sizeof *link);
    *link = (struct link){NULL, message};
    if (client->waiting++ == 0) {
        client->first = link;
    } else {
        client->last->next = link;
    }
    client->last = link;
    message->holders++;
}

static void publish(uint32_t longest) {
    uint32_t topic = drawn(TOPICS);
    size_t length = 1 + drawn(drawn(8) == 0 ? longest : 1 + longest / 8);
    struct message *message = block(sizeof *message + length);
    message->holders = 1;
    message->length = length;
    memset(message->text, 'm', length);
    for (struct subscription *one = topics[topic].subscriptions; one != NULL; one = one->next) {
        hand_on(clients[one->client], message);
    }
    if (drawn(5) == 0) {
        let_go(topics[topic].retained);
        topics[topic].retained = message;
    } else {
        let_go(message);
    }
}

static void step(int most_clients, uint32_t longest) {
    int number = (int)drawn((uint32_t)most_clients);
    struct client *client = clients[number];
    if (client == NULL) {
        connect_client(number);
    } else if (drawn(60) == 0) {
        disconnect(number);
    } else {
        for (uint32_t left = drawn(4); left > 0 && client->waiting > 0; left--) {
            read_one(client);
        }
    }
    publish(longest);
}

int main(int count, char **words) {
    if (count != 5 || atoi(words[3]) < 1 || atoi(words[3]) > MOST_CLIENTS) {
        fputs("broker SEED STEPS CLIENTS LONGEST\n", stderr);
        return 2;
    }
    state = (uint32_t)atoi(words[1]) * 2654435761U | 1U;
    for (int left = atoi(words[2]); left > 0; left--) {
        step(atoi(words[3]), (uint32_t)atoi(words[4]));
    }
    return 0;
}
