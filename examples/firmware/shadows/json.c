/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include "freertos/FreeRTOS.h"

enum { MOST_DEPTH = 4 };

static json *parse_value(const char **at, unsigned depth);

static bool take(const char **at, char byte) {
    const bool is_there = **at == byte;
    *at += is_there;
    return is_there;
}

/* What stands between quotation marks, in a block of its own. */
static char *parse_text(const char **at) {
    if (!take(at, '"')) {
        return NULL;
    }
    size_t length = 0;
    while ((*at)[length] != '"') {
        if ((*at)[length++] == '\0') {
            return NULL;
        }
    }
    char *const made = pvPortMalloc(length + 1);
    for (size_t i = 0; made && i < length; i++) {
        made[i] = (*at)[i];
    }
    if (made) {
        made[length] = '\0';
    }
    *at += length + 1;
    return made;
}

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

static int32_t parse_thousandths(const char **at) {
    const bool is_negative = take(at, '-');
    int32_t value = 0;
    while (is_digit(**at)) {
        value = value * 10 + (*(*at)++ - '0');
    }
    value *= 1000;
    if (take(at, '.')) {
        for (int32_t unit = 100; is_digit(**at); unit /= 10) {
            value += (*(*at)++ - '0') * unit;
        }
    }
    return is_negative ? -value : value;
}

static json *parse_member(const char **at, unsigned depth) {
    char *const name = parse_text(at);
    json *const made = name && take(at, ':') ? parse_value(at, depth) : NULL;
    if (!made) {
        vPortFree(name);
        return NULL;
    }
    made->name = name;
    return made;
}

/* Behind the brace that opens. False: what has been made is in the object all the same. */
static bool parse_members(const char **at, json *object, unsigned depth) {
    json **end = &object->child;
    if (take(at, '}')) {
        return true;
    }
    do {
        *end = parse_member(at, depth);
        if (!*end) {
            return false;
        }
        end = &(*end)->next;
    } while (take(at, ','));
    return take(at, '}');
}

static bool parse_into(json *made, const char **at, unsigned depth) {
    if (**at == '"') {
        made->kind = JSON_TEXT;
        made->text = parse_text(at);
        return made->text;
    }
    if (take(at, '{')) {
        made->kind = JSON_OBJECT;
        return depth != 0 && parse_members(at, made, depth - 1);
    }
    made->thousandths = parse_thousandths(at);
    return true;
}

static json *parse_value(const char **at, unsigned depth) {
    json *const made = pvPortMalloc(sizeof *made);
    if (!made) {
        return NULL;
    }
    *made = (json){.kind = JSON_NUMBER};
    if (!parse_into(made, at, depth)) {
        json_free(made);
        return NULL;
    }
    return made;
}

json *json_parse(const char *bytes) {
    return parse_value(&bytes, MOST_DEPTH);
}

void json_free(json *freed) {
    if (!freed) {
        return;
    }
    while (freed->child) {
        json *const child = freed->child;
        freed->child = child->next;
        json_free(child);
    }
    vPortFree(freed->name);
    vPortFree(freed->text);
    vPortFree(freed);
}

json **json_find(json *object, const char *name) {
    json **at = &object->child;
    while (*at && !text_is_same((*at)->name, name)) {
        at = &(*at)->next;
    }
    return at;
}

bool json_is_same(const json *one, const json *other) {
    if (one->kind != other->kind || one->kind == JSON_OBJECT) {
        return false;
    }
    return one->kind == JSON_NUMBER ? one->thousandths == other->thousandths
                                    : text_is_same(one->text, other->text);
}

static void put_members(text *to, const json *object) {
    put_byte(to, '{');
    for (const json *at = object->child; at; at = at->next) {
        json_put(to, at);
        put_text(to, at->next ? "," : "");
    }
    put_byte(to, '}');
}

void json_put(text *to, const json *value) {
    put_name(to, value->name);
    switch (value->kind) {
    case JSON_NUMBER:
        put_thousandths(to, value->thousandths);
        break;
    case JSON_TEXT:
        put_byte(to, '"');
        put_text(to, value->text);
        put_byte(to, '"');
        break;
    default:
        put_members(to, value);
    }
}
