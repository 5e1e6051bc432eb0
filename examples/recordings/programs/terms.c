/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms drawn, differentiated, simplified and printed: terms SEED COUNT DEPTH KEPT
 * A node is one block; printed terms are strings that grow by realloc, and the last KEPT of them
 * are kept.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEPT = 1000 };
enum kind { NUMBER, VARIABLE, SUM, PRODUCT };

struct term {
    enum kind kind;
    int value;
    struct term *left, *right;
};

struct text {
    char *bytes;
    size_t length, room;
};

static uint32_t state;
static char *kept[MOST_KEPT];

static uint32_t drawn(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

static struct term *leaf(enum kind kind, int value) {
    struct term *made = malloc(sizeof *made);
    if (made == NULL) {
        exit(1);
    }
    *made = (struct term){kind, value, NULL, NULL};
    return made;
}

static struct term *pair(enum kind kind, struct term *left, struct term *right) {
    struct term *made = leaf(kind, 0);
    made->left = left;
    made->right = right;
    return made;
}

static struct term *drawn_term(int depth) {
    if (depth == 0 || drawn(6) == 0) {
        return drawn(2) ? leaf(NUMBER, (int)drawn(3)) : leaf(VARIABLE, (int)drawn(3));
    }
    struct term *left = drawn_term(depth - 1);
    return pair(drawn(2) ? SUM : PRODUCT, left, drawn_term(depth - 1));
}

static struct term *copied(const struct term *term) {
    struct term *made = leaf(term->kind, term->value);
    if (term->left != NULL) {
        made->left = copied(term->left);
        made->right = copied(term->right);
    }
    return made;
}

static void drop(struct term *term) {
    if (term != NULL) {
        drop(term->left);
        drop(term->right);
        free(term);
    }
}

static struct term *derived(const struct term *term, int variable) {
    if (term->kind == NUMBER) {
        return leaf(NUMBER, 0);
    }
    if (term->kind == VARIABLE) {
        return leaf(NUMBER, term->value == variable);
    }
    struct term *left = derived(term->left, variable), *right = derived(term->right, variable);
    if (term->kind == SUM) {
        return pair(SUM, left, right);
    }
    left = pair(PRODUCT, left, copied(term->right));
    return pair(SUM, left, pair(PRODUCT, copied(term->left), right));
}

static int is_number(const struct term *term, int value) {
    return term->kind == NUMBER && term->value == value;
}

/* What is left of a pair one of whose terms says nothing; the rest is freed. */
static struct term *instead(struct term *pair, struct term *stays) {
    struct term *goes = pair->left == stays ? pair->right : pair->left;
    drop(goes);
    free(pair);
    return stays;
}

static struct term *simplified(struct term *term) {
    if (term->left == NULL) {
        return term;
    }
    term->left = simplified(term->left);
    term->right = simplified(term->right);
    int neutral = term->kind == SUM ? 0 : 1;
    if (is_number(term->left, neutral)) {
        return instead(term, term->right);
    }
    if (is_number(term->right, neutral)) {
        return instead(term, term->left);
    }
    if (term->kind == PRODUCT && is_number(term->left, 0)) {
        return instead(term, term->left);
    }
    if (term->kind == PRODUCT && is_number(term->right, 0)) {
        return instead(term, term->right);
    }
    return term;
}

static void put(struct text *text, char byte) {
    if (text->length == text->room) {
        text->room = text->room == 0 ? 16 : text->room + text->room / 2;
        text->bytes = realloc(text->bytes, text->room);
        if (text->bytes == NULL) {
            exit(1);
        }
    }
    text->bytes[text->length++] = byte;
}

static void print(struct text *text, const struct term *term) {
    if (term->left == NULL) {
        put(text, (char)((term->kind == NUMBER ? '0' : 'x') + term->value));
        return;
    }
    put(text, '(');
    print(text, term->left);
    put(text, term->kind == SUM ? '+' : '*');
    print(text, term->right);
    put(text, ')');
}

int main(int count, char **words) {
    if (count != 5 || atoi(words[4]) < 1 || atoi(words[4]) > MOST_KEPT) {
        fputs("terms SEED COUNT DEPTH KEPT\n", stderr);
        return 2;
    }
    state = (uint32_t)atoi(words[1]) * 2654435761U | 1U;
    for (int i = 0; i < atoi(words[2]); i++) {
        struct term *term = drawn_term(atoi(words[3]));
        struct term *slope = simplified(derived(term, (int)drawn(3)));
        struct text text = {NULL, 0, 0};
        print(&text, slope);
        put(&text, 0);
        char **place = &kept[i % atoi(words[4])];
        free(*place);
        *place = realloc(text.bytes, text.length);
        drop(term);
        drop(slope);
    }
    return 0;
}
