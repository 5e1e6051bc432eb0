/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

void put_byte(text *to, char byte) {
    if (to->bytes) {
        to->bytes[to->length] = byte;
    }
    to->length++;
}

void put_text(text *to, const char *bytes) {
    while (*bytes) {
        put_byte(to, *bytes++);
    }
}

void put_name(text *to, const char *name) {
    if (name) {
        put_byte(to, '"');
        put_text(to, name);
        put_text(to, "\":");
    }
}

static void put_digits(text *to, uint32_t value, uint32_t unit) {
    for (; unit != 0; unit /= 10) {
        put_byte(to, (char)('0' + value / unit % 10));
    }
}

static uint32_t unit_of_first_digit(uint32_t value) {
    uint32_t unit = 1;
    while (value / unit >= 10) {
        unit *= 10;
    }
    return unit;
}

void put_thousandths(text *to, int32_t thousandths) {
    const uint32_t size = thousandths < 0 ? 0u - (uint32_t)thousandths : (uint32_t)thousandths;
    if (thousandths < 0) {
        put_byte(to, '-');
    }
    put_digits(to, size / 1000, unit_of_first_digit(size / 1000));
    if (size % 1000 != 0) {
        put_byte(to, '.');
        put_digits(to, size % 1000, 100);
    }
}

bool text_is_same(const char *one, const char *other) {
    while (*one && *one == *other) {
        one++;
        other++;
    }
    return *one == *other;
}
