/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as a tree: a block for each value, one for its name and one for its text.
 *
 *   {"id":7,"state":{"mode":"eco"}}      object -child-> id -next-> state -child-> mode
 *
 * Numbers, text without escapes, and objects: what the devices send.
 */
#ifndef FIRMWARE_JSON_H
#define FIRMWARE_JSON_H

#include "text.h"

typedef enum json_kind { JSON_NUMBER, JSON_TEXT, JSON_OBJECT } json_kind;

typedef struct json {
    struct json *next;  /* of the same object */
    struct json *child; /* the first of an object */
    char *name;         /* NULL: of no object */
    char *text;
    int32_t thousandths; /* a number's */
    json_kind kind;
} json;

/* The tree of a text, to be freed; NULL if the text is broken or the heap refuses a block. */
json *json_parse(const char *bytes);

/* A value and what is in it; `next` is not looked at. NULL is allowed. */
void json_free(json *freed);

/* The link to a value by its name; the last link, which is NULL, if there is none. */
json **json_find(json *object, const char *name);

/* Objects never are. */
bool json_is_same(const json *one, const json *other);

void json_put(text *to, const json *value);

#endif
