/* SPDX-License-Identifier: Apache-2.0 */
/* Records as WIRE.md packs them. */
#include "lane.h"

#include <string.h>

/* Seven bits a byte, the lowest first; the highest bit tells that more follow. */
static unsigned char *put_number(unsigned char *at, uint64_t value) {
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

/* Small numbers of either sign become small ones without: 0, -1, 1, -2 are 0, 1, 2, 3. */
static unsigned char *put_signed(unsigned char *at, uint64_t difference) {
    return put_number(at, difference << 1 ^ (uint64_t) - (int64_t)(difference >> 63));
}

static unsigned char *put_address(unsigned char *at, const hfit_lane *lane, uint64_t address,
                                  unsigned *tag) {
    if (((address | lane->address) & (HFIT_WIRE_GRANULE - 1)) != 0) {
        *tag |= HFIT_WIRE_IS_ODD;
        return put_signed(at, address - lane->address);
    }
    return put_signed(at, address / HFIT_WIRE_GRANULE - lane->address / HFIT_WIRE_GRANULE);
}

static unsigned char *put_site(unsigned char *at, hfit_lane *lane, const struct site *site,
                               unsigned *tag) {
    uint32_t *place = &lane->sites[site->name % HFIT_WIRE_SITES];
    if (*place == site->name) {
        *at++ = (unsigned char)(site->name % HFIT_WIRE_SITES);
        return at;
    }
    *tag |= HFIT_WIRE_IS_NEW_SITE;
    *place = site->name;
    memcpy(at, &site->name, sizeof(site->name));
    at += sizeof(site->name);
    if (site->callers[0] != 0) {
        *tag |= HFIT_WIRE_HAS_CALLERS;
        memcpy(at, site->callers, sizeof(site->callers));
        at += sizeof(site->callers);
    }
    return at;
}

static void commit(hfit_lane *lane, unsigned tag, unsigned char *end) {
    __atomic_store_n(lane->next, (unsigned char)tag, __ATOMIC_RELEASE);
    lane->next = end;
}

void lane_enter_chunk(hfit_lane *lane, unsigned char *chunk, size_t size) {
    lane->chunk = chunk;
    lane->next = chunk + HFIT_WIRE_CHUNK_HEADER;
    lane->end = chunk + size;
    lane->order = 0;
    lane->time = 0;
    lane->address = 0;
    memset(lane->sites, 0, sizeof(lane->sites));
    memcpy(chunk, &lane->thread, sizeof(lane->thread));
}

void lane_hand_over(hfit_lane *lane, uint32_t thread) {
    lane->thread = thread;
    commit(lane, HFIT_WIRE_THREAD, put_number(lane->next + 1, thread));
}

void lane_write(hfit_lane *lane, const hfit_event *event, uint64_t order, uint64_t time) {
    unsigned tag = event->op;
    unsigned char *at = lane->next + 1;
    if (order != lane->order + 1) {
        tag |= HFIT_WIRE_HAS_ORDER;
        at = put_number(at, order - lane->order);
    }
    if (time > lane->time) { /* else the clock stands, or was put back */
        tag |= HFIT_WIRE_HAS_TIME;
        at = put_number(at, time - lane->time);
        lane->time = time;
    }
    at = put_address(at, lane, event->address, &tag);
    lane->order = order;
    lane->address = event->address;
    if (event->op != HFIT_WIRE_RESIZE_END) { /* whose begin, just before, told the rest */
        at = event->op == HFIT_WIRE_FREE ? at : put_number(at, event->size);
        if (event->op == HFIT_WIRE_ALIGNED) {
            *at++ = event->alignment_log2;
        }
        at = put_site(at, lane, &event->site, &tag);
    }
    commit(lane, tag, at);
}
